package agenttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/agent"
)

// Behaviour is what an agent is to do in a turn.
type Behaviour string

// The behaviours. An adapter's harness need not know those it lists in Skip, with a reason.
const (
	Says        Behaviour = "says"          // answers "hello " and "world" and ends the turn
	Thinks      Behaviour = "thinks"        // thinks, then answers "done"
	Calls       Behaviour = "calls"         // calls the tool echo with {"text": "hi"}, then answers "done"
	Unknown     Behaviour = "unknown"       // calls a tool that is not there, then answers "done"
	Asks        Behaviour = "asks"          // calls ask_person_fairlead; the turn ends parked
	Uses        Behaviour = "uses"          // two model calls: 10 in, 5 out; then 7 in, 3 out; then answers "done"
	Fails       Behaviour = "fails"         // the provider fails, transient
	Dies        Behaviour = "dies"          // the agent exits with code 3 in mid-turn
	Hangs       Behaviour = "hangs"         // says "working", then nothing, for ever
	HangsInCall Behaviour = "hangs_in_call" // says "working", then calls the tool block, which ends only when it is cancelled
)

// Harness drives one adapter.
type Harness struct {
	Runtime agent.Runtime
	// Reopen ends the runtime and opens it again on the same state, as the next process would.
	Reopen func(t *testing.T) agent.Runtime
	// Spec makes an agent behave so for its first prompt; the prompt alone does the same in a later turn of the same
	// agent. ID, Metadata, Session and KeepWarm are set by the suite.
	Spec func(t *testing.T, b Behaviour) agent.LaunchSpec
	Skip map[Behaviour]string
}

const bound = 20 * time.Second

// bench is one test's view of a harness.
type bench struct {
	*testing.T
	h   *Harness
	ctx context.Context
	n   int
}

func (b *bench) spec(what Behaviour) agent.LaunchSpec {
	b.Helper()
	if why, ok := b.h.Skip[what]; ok {
		b.Skipf("%s: %s", what, why)
	}
	b.n++
	s := b.h.Spec(b.T, what)
	s.ID = agent.ExecutionID(fmt.Sprintf("exe_%s_%d", strings.ReplaceAll(b.Name(), "/", "_"), b.n))
	s.Metadata = map[string]string{"opaque": string(s.ID)}
	s.Prompt.ID = fmt.Sprintf("turn-%d", b.n)
	return s
}

func (b *bench) launch(s agent.LaunchSpec) agent.ExecutionRef {
	b.Helper()
	ref, err := b.h.Runtime.Launch(b.ctx, s)
	if err != nil {
		b.Fatalf("launch: %v", err)
	}
	if ref.ID != s.ID {
		b.Errorf("launch: got id %q, want %q", ref.ID, s.ID)
	}
	return ref
}

// subscribe returns the stream and its end.
func (b *bench) subscribe(id agent.ExecutionID, after agent.Cursor) (<-chan agent.Event, context.CancelFunc) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, bound)
	b.Cleanup(cancel)
	ch, err := b.h.Runtime.SubscribeEvents(ctx, id, after)
	if err != nil {
		b.Fatalf("subscribe: %v", err)
	}
	return ch, cancel
}

// all reads a stream to its end, which must be the exited event.
func (b *bench) all(id agent.ExecutionID, after agent.Cursor) []agent.Event {
	b.Helper()
	ch, _ := b.subscribe(id, after)
	var out []agent.Event
	for e := range ch {
		out = append(out, e)
	}
	if len(out) == 0 || out[len(out)-1].Kind != agent.EventExited {
		b.Fatalf("the stream of %s did not end with exited: %s", id, kinds(out))
	}
	return out
}

// until reads a stream up to the first event of a kind that satisfies ok, and returns what was read.
func (b *bench) until(ch <-chan agent.Event, kind agent.EventKind) []agent.Event {
	b.Helper()
	var out []agent.Event
	for e := range ch {
		out = append(out, e)
		if e.Kind == kind {
			return out
		}
	}
	b.Fatalf("no %s before the end of the stream: %s", kind, kinds(out))
	return nil
}

func (b *bench) stop(id agent.ExecutionID) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, bound)
	defer cancel()
	if err := b.h.Runtime.Stop(ctx, id, agent.StopPerson); err != nil {
		b.Errorf("stop: %v", err)
	}
}

func (b *bench) state(id agent.ExecutionID, want agent.State) agent.Execution {
	b.Helper()
	x, err := b.h.Runtime.GetExecution(b.ctx, id)
	if err != nil {
		b.Fatalf("get execution: %v", err)
	}
	if x.State != want {
		b.Errorf("got state %s, want %s", x.State, want)
	}
	return x
}

func kinds(events []agent.Event) string {
	var out []string
	for _, e := range events {
		out = append(out, string(e.Kind))
	}
	return strings.Join(out, " ")
}

func text(events []agent.Event) string {
	var sb strings.Builder
	for _, e := range events {
		if e.Kind == agent.EventText {
			sb.WriteString(e.Text)
		}
	}
	return sb.String()
}

func ends(events []agent.Event) (out []agent.TurnEnd) {
	for _, e := range events {
		if e.Kind == agent.EventTurnEnded {
			out = append(out, *e.End)
		}
	}
	return out
}

var errNone = errors.New("no error")

func orNone(err error) error {
	if err == nil {
		return errNone
	}
	return err
}
