package agent

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"time"

	"github.com/fairlead/fairlead"
)

// LaunchSpec is everything an agent needs to start: complete, so that an adapter asks nobody.
type LaunchSpec struct {
	ID       ExecutionID // required; see [ExecutionID]
	Profile  Profile
	Executor string            // backend that starts the process; "" and "local" are this machine
	Metadata map[string]string // opaque to the runtime; returned on every event

	Workspace string // absolute directory in which the agent works
	Prompt    Prompt
	Session   string // session to go on with, as an earlier event named it; "" begins a new one
	// Transcript is the durable history of the session for agents whose loop runs here (built-in, scripted). They
	// append each reply before acting on it and go on from its last entry. nil: the adapter keeps its own.
	Transcript Transcript
	// Digest is a bounded summary of the session for an agent that has lost its own; used only then.
	Digest string

	MCPServers []MCPServer
	MCPMode    MCPMode // "" means full
	Tools      ToolBox // tools of agents whose loop runs here; nil means none
	Model      string  // "" means the profile's
	Permit     Permit  // nil rejects everything that asks
	Env        []string
	Limits     Limits
	KeepWarm   bool // stay idle after a turn and wait for Resume, instead of exiting
}

// Profile is the part of an agent profile that a runtime needs.
type Profile struct {
	Key          string
	Adapter      string          // name in the [Registry]
	Command      []string        // for adapters that start a program
	Model        string          // default model
	Mode         string          // mode of the agent that asks permission; "" means the adapter's choice
	Account      string          // provider account, for prices and holds
	Instructions string          // system text for agents whose loop runs here
	Script       json.RawMessage // for the scripted agent
}

// Prompt is one message to an agent.
type Prompt struct {
	// ID names the turn. To an agent whose loop runs here, a prompt with the ID of the transcript's last turn is that
	// turn: when it is open it goes on behind its last entry, and when it has ended (its end did not reach the caller
	// before a crash) it ends the same way again and does nothing. Any other prompt closes an open turn as interrupted
	// and begins the next.
	ID          string       `json:"id"`
	Text        string       `json:"text"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Role        string       `json:"role,omitempty"` // role of the agent in this turn, for scripts and logs
}

// Attachment is a file or a link that goes with a prompt. Exactly one of Data, Path and URI is set.
type Attachment struct {
	Name string `json:"name"`
	MIME string `json:"mime,omitempty"`
	Data []byte `json:"data,omitempty"`
	Path string `json:"path,omitempty"`
	URI  string `json:"uri,omitempty"`
}

// MCPServer is a server of tools for the agent: a command over stdio, or a URL.
type MCPServer struct {
	Name    string
	Command []string
	Env     []string
	URL     string
	Headers map[string]string
}

// Limits bound an execution. Zero means the adapter's default; a negative duration means none.
type Limits struct {
	Start    time.Duration // until the agent took its first prompt
	Idle     time.Duration // without a sign of life within a turn
	Stall    time.Duration // until a silent turn is marked stalled
	Turn     time.Duration // whole turn, whatever happens; default none
	MaxCalls int           // model calls in a turn, for agents whose loop runs here
	Memory   int64         // bytes of the whole process tree
	Output   int64         // bytes of the raw wire kept
	// Deadline is the instant of CLOCK_BOOTTIME at which the warden ends the tree; 0 means none.
	Deadline time.Duration
}

// Permit decides about one permission the agent asks for. It may take hours; ctx ends when the turn does. The answer
// must be one of the options offered, or empty to reject.
type Permit func(ctx context.Context, ask PermissionAsk) PermissionAnswer

var executionPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)

// Validate reports what no adapter could work with.
func (s *LaunchSpec) Validate() error {
	switch {
	case !executionPattern.MatchString(string(s.ID)):
		return fairlead.Errorf(fairlead.CodeInvalid, "execution id is not a valid name").WithOp("launch agent").
			WithHint("use letters, digits, - and _")
	case s.Executor != "" && s.Executor != "local":
		return &fairlead.Failure{Class: fairlead.ClassConfiguration, Message: "unknown executor " + s.Executor}
	case !filepath.IsAbs(s.Workspace):
		return fairlead.Errorf(fairlead.CodeInvalid, "workspace directory is not absolute").WithOp("launch agent")
	}
	return nil
}
