package worker

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/control"
)

// batch is how many facts one report carries at most.
const batch = 64

// follow reads the agent's events until its turn has ended, and reports them in order. A run that is told to stop has
// its agent ended; what the agent says meanwhile is still reported.
func (d *drive) follow(ctx context.Context, box *recordedTools) (*control.TurnEnd, error) {
	events, err := d.w.Runtime.SubscribeEvents(context.WithoutCancel(ctx), d.execution, 0)
	if err != nil {
		return nil, err
	}
	f := &follower{calls: make(map[string]bool), shown: make(map[string]json.RawMessage), knows: box.knows, ours: box.ours}
	var park <-chan time.Time
	stop, drained := d.stop, ctx.Done()
	for f.end == nil && !f.exited {
		select {
		case e, open := <-events:
			if !open {
				f.exited = true
				break
			}
			f.take(e)
			f.more(events)
			switch d.send(f) {
			case control.StopTree:
			case control.ParkAfterTurn:
				if park == nil {
					park = time.After(parkGrace)
				}
			}
		case <-stop:
			stop = nil
			d.halting.Go(func() { d.halt(ctx, agent.StopSuperseded) })
		case <-drained:
			drained = nil
			d.halting.Go(func() { d.halt(ctx, agent.StopShutdown) })
		case <-park:
			park = nil
			d.halting.Go(func() { d.halt(ctx, agent.StopTimeout) })
		}
	}
	d.send(f)
	return f.result(), nil
}

// halt ends the agent while its events are still being read.
func (d *drive) halt(ctx context.Context, reason agent.StopReason) {
	if err := d.w.Runtime.Stop(context.WithoutCancel(ctx), d.execution, reason); err != nil {
		d.w.Log.Error("stop agent", "run", d.c.Run.ID, "error", err)
	}
}

// send reports what the follower has gathered.
func (d *drive) send(f *follower) control.Directive {
	f.flush()
	if len(f.facts) == 0 {
		return control.Continue
	}
	facts := f.facts
	f.facts = nil
	return d.report(control.Report{Facts: facts})
}

// follower turns events into facts.
type follower struct {
	facts  []control.Fact
	text   []byte                     // pieces of one message
	calls  map[string]bool            // calls whose intent was told
	shown  map[string]json.RawMessage // inputs of calls of our tools, which go on record where they run
	knows  func(call string) bool     // calls that are on record already
	ours   func(tool string) bool
	end    *agent.TurnEnd
	exit   *agent.Exit
	exited bool
}

// more takes what is there without waiting, so that one report carries it all.
func (f *follower) more(events <-chan agent.Event) {
	for f.end == nil && len(f.facts) < batch {
		select {
		case e, open := <-events:
			if !open {
				f.exited = true
				return
			}
			f.take(e)
		default:
			return
		}
	}
}

func (f *follower) take(e agent.Event) {
	if e.Kind == agent.EventText {
		f.text = append(f.text, e.Text...)
		return
	}
	f.flush()
	switch e.Kind {
	case agent.EventStarted:
		if e.Session != "" {
			f.facts = append(f.facts, control.Fact{External: e.Session})
		}
	case agent.EventToolCall:
		f.toolCall(e.Tool)
	case agent.EventUsage:
		f.record(fairlead.RecordUsage, e.Usage)
	case agent.EventStalled:
		f.line("stalled", nil)
	case agent.EventNotice:
		f.line("notice", map[string]any{"text": e.Text})
	case agent.EventTurnEnded:
		f.end = e.End
	case agent.EventExited:
		f.exit, f.exited = e.Exit, true
	}
}

// flush makes one message of the text so far.
func (f *follower) flush() {
	if len(f.text) == 0 {
		return
	}
	f.record(fairlead.RecordMessage, map[string]any{"text": string(f.text)})
	f.text = nil
}

func (f *follower) record(kind string, data any) {
	f.facts = append(f.facts, entry(kind, data))
}

func (f *follower) line(kind string, data map[string]any) {
	f.facts = append(f.facts, control.Fact{Event: &control.Line{Kind: kind, Data: data}})
}

// toolCall tells a call's intent when it is first seen, and its outcome when it is over.
func (f *follower) toolCall(t *agent.ToolCall) {
	if f.knows(t.ID) {
		return
	}
	input := t.Input
	if f.ours(t.Name) {
		if !t.State.Terminal() {
			f.shown[t.ID] = input
			return
		}
		if input == nil { // refused before it came to the tool
			input = f.shown[t.ID]
		}
	}
	if !f.calls[t.ID] && t.Name != "" {
		f.calls[t.ID] = true
		f.record(fairlead.RecordEffectIntent, map[string]any{"call": t.ID, "tool": t.Name, "input": input})
		f.line(fairlead.RunEventTool, map[string]any{"call": t.ID, "tool": t.Name})
	}
	if t.State.Terminal() {
		f.record(fairlead.RecordEffectOutcome, map[string]any{"call": t.ID, "outcome": t.State, "output": t.Output, "paths": t.Paths})
	}
}

// result is the end of the turn as control hears it. An execution that exits without an end was cut off.
func (f *follower) result() *control.TurnEnd {
	switch {
	case f.end != nil:
		return &control.TurnEnd{StopReason: string(f.end.Reason), Failure: f.end.Failure}
	case f.exit != nil && f.exit.Interrupted:
		return &control.TurnEnd{StopReason: string(agent.EndInterrupted), Interrupted: true, Counted: true}
	case f.exit != nil && f.exit.Reason != "":
		return &control.TurnEnd{StopReason: string(agent.EndCancelled)}
	}
	message := "the agent's process ended in mid-turn"
	if f.exit != nil && f.exit.Message != "" {
		message += ": " + f.exit.Message
	}
	return &control.TurnEnd{StopReason: string(agent.EndFailed), Failure: &fairlead.Failure{Class: fairlead.ClassTransient, Message: message}}
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}
