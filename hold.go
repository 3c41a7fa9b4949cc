package fairlead

import (
	"strings"
	"time"
)

// TimerHold ends the time of a [StandingHold] (Ref).
const TimerHold = "hold"

// HoldState is where a standing hold stands.
type HoldState string

// The states of a standing hold. One that is released has no row any more.
const (
	HoldShut    HoldState = "shut"    // nothing it covers is claimed
	HoldReady   HoldState = "ready"   // its time is over: one run may go first
	HoldProbing HoldState = "probing" // that run is live; the others wait for how it ends
)

// StandingHold is a hold that time or a person ends, not a fact about tasks: the limit of a provider account, the
// cool-down of an agent, the breaker of an agent that fails and fails. A cool-down ends with its time; the others let one
// run go first and end with its success.
type StandingHold struct {
	ID        string
	Workspace string
	Kind      HoldKind // account, cooldown, breaker
	Ref       string   // the account, or the agent's key
	State     HoldState
	Until     time.Time     // end of the present time
	Wait      time.Duration // length of the present time
	Since     time.Time     // when it began; without a success since
	ResetAt   time.Time     // the first reset that the provider stated; zero = none
	Probe     string        // run that goes first
	Reported  bool          // agent_error has told of it
	Noted     bool          // the inbox has told of it
	Reason    string        // in the words of what failed
	Version   int64
}

// AccountRef names the provider account that the agent works with. Without a name in the profile, agents that start the
// same command, or use models of the same provider, share an account, unless their environment may hold another login.
func (a *AgentProfile) AccountRef() string {
	switch {
	case a.Account != "":
		return a.Account
	case a.Adapter == "script" || len(a.Environment) > 0:
		return "agent:" + a.Key
	case len(a.Command) > 0:
		return a.Adapter + ":" + a.Command[0]
	}
	provider, _, found := strings.Cut(a.Model, "/")
	if !found {
		provider = ""
	}
	return a.Adapter + ":" + provider
}
