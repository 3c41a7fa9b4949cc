package script

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
)

// askTool is the tool that an ask step calls.
const askTool = "ask_person_fairlead"

// turn is one prompt being answered.
type turn struct {
	x       *execution
	session string // as it was when the turn began: calls keep their ids when another execution goes on
	number  int    // in the session
	done    int    // steps whose result is in the transcript
	result  string
	ended   bool // the whole turn is in the transcript
}

// run is the life of an execution: turns until it is told to stop, or after the first when nobody keeps it warm.
func (x *execution) run(ctx context.Context) agent.Exit {
	p := x.spec.Prompt
	if err := x.track.Prompted(p); err != nil {
		return agent.Exit{Code: -1}
	}
	for {
		end, exit := x.answer(ctx, p)
		if exit != nil {
			return *exit
		}
		x.track.TurnEnded(*end)
		if !x.spec.KeepWarm {
			return agent.Exit{}
		}
		select {
		case p = <-x.next:
		case <-ctx.Done():
			return agent.Exit{}
		}
	}
}

// answer plays one turn to its end, or to the exit of the whole execution.
func (x *execution) answer(ctx context.Context, p agent.Prompt) (*agent.TurnEnd, *agent.Exit) {
	t, steps, end, err := x.open(ctx, p)
	if t.ended {
		return end, nil
	}
	if err == nil && end == nil {
		end, err = t.play(ctx, steps)
	}
	if err != nil && ctx.Err() != nil {
		end = &agent.TurnEnd{Reason: agent.EndCancelled}
	} else if err != nil {
		end = agent.Fail(fairlead.ClassTransient, "the transcript could not be used: "+err.Error())
	}
	if end.Reason == agent.EndCancelled && leaves(x.track.Reason()) {
		return &agent.TurnEnd{Reason: agent.EndInterrupted}, nil // open in the transcript: whoever serves the session next goes on
	}
	var exit *agent.Exit
	if end.Reason == agent.EndInterrupted { // die: the turn is a failed one, and the events show it as a crash does
		exit = &agent.Exit{Code: *steps[t.done].Die}
		end = agent.Fail(fairlead.ClassTransient, "the agent exited in mid-turn")
	}
	if err := x.history.Append(context.WithoutCancel(ctx), agent.Entry{Kind: agent.EntryEnd, Turn: t.number, End: end}); err != nil {
		end = agent.Fail(fairlead.ClassTransient, "the end could not be recorded: "+err.Error())
	}
	return end, exit
}

// leaves reports whether a stop ends the service of a session here, and not its work.
func leaves(r agent.StopReason) bool { return r == agent.StopShutdown || r == agent.StopFenced }

// open finds the turn that the prompt continues, or begins a new one, and returns its steps as they were recorded.
func (x *execution) open(ctx context.Context, p agent.Prompt) (turn, []Step, *agent.TurnEnd, error) {
	t := turn{x: x, session: x.session}
	all, err := x.history.Load(ctx)
	if err != nil {
		return t, nil, nil, err
	}
	last, ended := agent.LastTurn(all)
	if len(last) > 0 {
		t.number = last[0].Turn
	}
	switch {
	case len(last) > 0 && last[0].PromptID == p.ID && ended:
		t.ended = true
		if end := last[len(last)-1].End; end != nil {
			return t, nil, end, nil
		}
		return t, nil, &agent.TurnEnd{Reason: agent.EndTurn}, nil
	case len(last) > 0 && last[0].PromptID == p.ID:
		if steps, ok := t.replay(last); ok {
			return t, steps, nil, nil
		}
	default:
		e, err := x.begin(ctx, &t, p, len(last) > 0 && !ended)
		if err != nil {
			return t, nil, nil, err
		}
		all = append(all, e)
	}
	steps, ok := x.script.choose(prompts(all))
	if !ok {
		return t, nil, agent.Fail(fairlead.ClassConfiguration, "no rule of the script matches the prompt"), nil
	}
	return t, steps, nil, x.history.Append(ctx, agent.Entry{Kind: agent.EntryReply, Turn: t.number, Data: mustJSON(steps)})
}

// begin writes the prompt of a new turn, and the end of one that nobody goes on with.
func (x *execution) begin(ctx context.Context, t *turn, p agent.Prompt, dangling bool) (agent.Entry, error) {
	if dangling {
		end := &agent.TurnEnd{Reason: agent.EndInterrupted}
		if err := x.history.Append(ctx, agent.Entry{Kind: agent.EntryEnd, Turn: t.number, End: end}); err != nil {
			return agent.Entry{}, err
		}
	}
	t.number++
	e := agent.Entry{Kind: agent.EntryPrompt, Turn: t.number, PromptID: p.ID, Text: p.Text,
		Data: mustJSON(map[string]string{"role": p.Role, "session": t.session})}
	return e, x.history.Append(ctx, e)
}

// replay reads how far a cut turn came; ok is false when it was cut before its steps were recorded.
func (t *turn) replay(entries []agent.Entry) (steps []Step, ok bool) {
	for _, e := range entries {
		switch e.Kind {
		case agent.EntryPrompt:
			var data struct{ Session string }
			if json.Unmarshal(e.Data, &data) == nil && data.Session != "" {
				t.session = data.Session
			}
		case agent.EntryReply:
			ok = json.Unmarshal(e.Data, &steps) == nil
		case agent.EntryResult:
			t.done++
			if e.Result != nil {
				t.result = strings.TrimSpace(e.Result.Text)
			}
		}
	}
	return steps, ok
}

func prompts(all []agent.Entry) []prompt {
	var out []prompt
	for _, e := range all {
		if e.Kind != agent.EntryPrompt {
			continue
		}
		var data struct{ Role string }
		_ = json.Unmarshal(e.Data, &data) // ours, or of another adapter and without a role
		out = append(out, prompt{text: e.Text, role: data.Role})
	}
	return out
}

// play does the steps that are not done yet. It ends with EndInterrupted for a step that makes the execution die.
func (t *turn) play(ctx context.Context, steps []Step) (*agent.TurnEnd, error) {
	for ; t.done < len(steps); t.done++ {
		if ctx.Err() != nil {
			return &agent.TurnEnd{Reason: agent.EndCancelled}, nil
		}
		if err := t.x.track.Err(); err != nil {
			return agent.Fail(fairlead.ClassTransient, "events cannot be recorded: "+err.Error()), nil
		}
		s := steps[t.done].expand(map[string]string{"result": t.result})
		if s.Die != nil {
			return &agent.TurnEnd{Reason: agent.EndInterrupted}, nil
		}
		result, end := t.step(ctx, &s)
		if ctx.Err() != nil {
			return &agent.TurnEnd{Reason: agent.EndCancelled}, nil
		}
		e := agent.Entry{Kind: agent.EntryResult, Turn: t.number, Call: t.call(), Result: result}
		if err := t.x.history.Append(ctx, e); err != nil {
			return nil, err
		}
		if end != nil {
			return end, nil
		}
	}
	return &agent.TurnEnd{Reason: agent.EndTurn}, nil
}

func (t *turn) call() string { return fmt.Sprintf("%s.t%d.%d", t.session, t.number, t.done) }

// step does one step. The end is nil when the turn goes on.
func (t *turn) step(ctx context.Context, s *Step) (*agent.Result, *agent.TurnEnd) {
	track := t.x.track
	switch {
	case s.Say != nil:
		track.Text(*s.Say)
	case s.Think != nil:
		track.Thought(*s.Think)
	case s.Usage != nil:
		u := s.Usage
		track.AddUsage(u.Model, agent.Usage{Calls: 1, Input: u.Input, Output: u.Output, CacheRead: u.CacheRead,
			CacheWrite: u.CacheWrite, Cost: u.Cost}, nil)
	case s.Hang != nil:
		return nil, t.hang(ctx, time.Duration(*s.Hang))
	case s.Fail != nil:
		end := agent.Fail(s.Fail.Class, s.Fail.Message)
		if end.Failure.Message == "" {
			end.Failure.Message = "the script fails here"
		}
		end.Failure.RetryAfter = time.Duration(s.Fail.RetryAfter)
		return nil, end
	case s.End != "":
		return nil, endOf(s.End)
	case s.Tool != nil:
		r := t.tool(ctx, s.Tool.Name, s.Tool.Args)
		if r.Outcome == agent.OutcomeParked {
			return &r, &agent.TurnEnd{Reason: agent.EndParked}
		}
		return &r, nil
	default:
		r := t.tool(ctx, askTool, s.Ask)
		if r.Outcome != agent.OutcomeOK && r.Outcome != agent.OutcomeParked {
			return &r, agent.Fail(fairlead.ClassConfiguration, "the question was refused: "+r.Text)
		}
		return &r, &agent.TurnEnd{Reason: agent.EndParked}
	}
	return nil, nil
}

// hang is silent for a while, and judged like any silent agent: stalled after one limit, dead after the other.
func (t *turn) hang(ctx context.Context, d time.Duration) *agent.TurnEnd {
	stall, idle := t.x.spec.Limits.Stall, t.x.spec.Limits.Idle
	waited := time.Duration(0)
	if stall > 0 && (d == 0 || stall < d) && (idle <= 0 || stall < idle) {
		if !sleep(ctx, stall) {
			return nil
		}
		waited = stall
		t.x.track.Stalled()
	}
	if idle > 0 && (d == 0 || idle < d) {
		if sleep(ctx, idle-waited) {
			return agent.Fail(fairlead.ClassTransient, "no sign of life from the agent for "+idle.String())
		}
		return nil
	}
	if d > 0 {
		d -= waited
	}
	sleep(ctx, d)
	return nil
}

// tool calls a tool the way a model does: shown, checked, run, shown again.
func (t *turn) tool(ctx context.Context, name string, args json.RawMessage) agent.Result {
	x := t.x
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	c := agent.Call{ID: t.call(), Execution: x.spec.ID, Session: t.session, Turn: t.number, Name: name, Args: args, Metadata: x.spec.Metadata}
	shown := agent.ToolCall{ID: c.ID, Name: name, Title: name, Input: args, State: agent.CallRunning}
	x.track.Tool(shown)
	r := x.offered(ctx, c)
	x.track.Tool(agent.ToolCall{ID: c.ID, Name: name, State: r.Outcome.State(), Output: r.Text, Paths: r.Paths})
	t.result = strings.TrimSpace(r.Text)
	return r
}

// offered runs a call that the present mode offers.
func (x *execution) offered(ctx context.Context, c agent.Call) agent.Result {
	if x.spec.Tools == nil {
		return agent.Result{Outcome: agent.OutcomeInvalid, Text: "there are no tools"}
	}
	x.mu.Lock()
	mode := x.mode
	x.mu.Unlock()
	spec, _ := agent.FindTool(x.spec.Tools, c.Name)
	if mcp := strings.HasSuffix(c.Name, "_fairlead"); mcp && (mode == agent.MCPOff || mode == agent.MCPRead && spec.Effect != agent.EffectRead) {
		return agent.Result{Outcome: agent.OutcomeDenied, Text: "the tool is not offered in this turn"}
	}
	return x.spec.Tools.Call(ctx, c)
}
