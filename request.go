package fairlead

import (
	"encoding/json"
	"time"
)

// RequestKind says what a person is asked.
type RequestKind string

// The kinds of requests.
const (
	RequestQuestion      RequestKind = "question"
	RequestChoice        RequestKind = "choice"
	RequestForm          RequestKind = "form"
	RequestPermission    RequestKind = "permission"
	RequestApproval      RequestKind = "approval"
	RequestDecision      RequestKind = "decision"
	RequestBudget        RequestKind = "budget"
	RequestBudgetGate    RequestKind = "budget_gate"
	RequestConfirmEffect RequestKind = "confirm_effect"
	RequestSupervise     RequestKind = "supervise"
	RequestSplit         RequestKind = "split"
	RequestStrategy      RequestKind = "strategy"
	RequestSecret        RequestKind = "secret"
)

// RequestState is where a request stands.
type RequestState string

// The states of a request. Everything but open is final, except that an answer may turn out undelivered.
const (
	RequestOpen        RequestState = "open"
	RequestAnswered    RequestState = "answered"
	RequestDeclined    RequestState = "declined"
	RequestExpired     RequestState = "expired"
	RequestWithdrawn   RequestState = "withdrawn"
	RequestSuperseded  RequestState = "superseded"
	RequestUndelivered RequestState = "undelivered"
)

// Blocks says what stands still while a request is open.
type Blocks string

// What a request may block.
const (
	BlocksTask       Blocks = "task"
	BlocksAssignment Blocks = "assignment"
	BlocksNothing    Blocks = "nothing"
)

// Option is one choice of a request. The order is data: 1 = yes once, 2 = yes wider, 3 = no.
type Option struct {
	ID    string `json:"id"`
	Label string `json:"label"`
	Kind  string `json:"kind,omitempty"`
}

// Request is a typed question to a person that parks whatever asked it. It is resolved once, by its id.
type Request struct {
	ID         string
	Workspace  string
	Kind       RequestKind
	Task       string
	Visit      int
	Round      int    // of a decision
	Seat       string // of a decision
	Assignment string // the asker, "" when the workflow asks
	Run        string
	Prompt     string
	Schema     json.RawMessage // JSON Schema of a form's values
	Options    []Option
	Payload    map[string]any
	Blocks     Blocks
	WhoMay     []string // "person:KEY"; empty = AskedOf, and if that is empty too, every person
	AskedOf    []string
	OpenedBy   Actor
	State      RequestState
	Answer     *Answer
	ResolvedBy *Actor
	OpenedAt   time.Time
	ResolvedAt time.Time
	Seq        int64 // place of the opening in the sequence of records
	Version    int64
}

// MayResolve reports whether the actor may resolve the request. The asker never may, and no agent unless it is named.
func (r *Request) MayResolve(a Actor) bool {
	who := r.WhoMay
	if len(who) == 0 {
		who = r.AskedOf
	}
	name := a.String()
	if a.Kind == ActorAgent {
		if a.Assignment == r.Assignment && r.Assignment != "" {
			return false
		}
		return contains(who, name)
	}
	if a.Kind != ActorPerson {
		return false
	}
	return len(who) == 0 || contains(who, name)
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// Answer is what resolves a request; which fields count is said by the request's kind.
type Answer struct {
	Text    string          `json:"text,omitempty"`
	Option  string          `json:"option,omitempty"`
	Values  json.RawMessage `json:"values,omitempty"`
	Verdict string          `json:"verdict,omitempty"`
	Note    string          `json:"note,omitempty"`
	Decline bool            `json:"decline,omitempty"`
}
