package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/workspace"
)

// drive is the work on one claimed run, from its tree to its last report.
type drive struct {
	w *Worker
	c *control.Claimed

	execution agent.ExecutionID
	launched  bool
	prepared  bool            // there is a tree
	traced    context.Context // holds the run's span, if somebody traces

	reporting sync.Mutex // reports follow each other: events and tools tell at the same time
	seq       int64

	halting  sync.WaitGroup // stops under way while events are read
	stopOnce sync.Once
	stop     chan struct{} // closed when the run is told to stop
	cut      func()        // interrupts the run
}

// parkGrace is how long a turn may go on after it asked a person.
const parkGrace = 60 * time.Second

func newDrive(w *Worker, c *control.Claimed) *drive {
	return &drive{
		w: w, c: c, stop: make(chan struct{}), traced: w.ctx,
		execution: agent.ExecutionID(fmt.Sprintf("%s_%s_%d", fairlead.PrefixExecution, strings.TrimPrefix(c.Run.ID, fairlead.PrefixRun+"_"), c.Run.Fence.Number)),
	}
}

func (d *drive) tellStop() { d.stopOnce.Do(func() { close(d.stop) }) }

// run works on the run and reports its end. ctx ends when the worker's drain is over, or the run is cut off.
func (d *drive) run(ctx context.Context) {
	ctx, done := d.span(ctx)
	d.traced = ctx
	end, err := d.turn(ctx)
	if err != nil {
		end = &control.TurnEnd{StopReason: string(agent.EndFailed), Failure: failureOf(err)}
	}
	if cut := errors.Is(context.Cause(ctx), errCut); ctx.Err() != nil && (end == nil || handedBack(end) || cut && end.Failure != nil) {
		end = &control.TurnEnd{StopReason: string(agent.EndInterrupted), Interrupted: true, Counted: cut}
	}
	d.endTree()
	d.report(control.Report{Facts: d.left(), End: end, TreeDead: true})
	done(end)
}

// handedBack reports whether a turn ended because its agent was ended.
func handedBack(end *control.TurnEnd) bool {
	return end.StopReason == string(agent.EndCancelled) || end.StopReason == string(agent.EndInterrupted)
}

// turn carries out one turn. A nil end without an error means that the run was told to stop: its tree's death is all
// that is left to tell.
func (d *drive) turn(ctx context.Context) (*control.TurnEnd, error) {
	tree, err := d.w.Trees.Prepare(ctx, d.order())
	if err != nil {
		return nil, fmt.Errorf("prepare workspace: %w", err)
	}
	d.prepared = true
	transcript := agent.NewFileTranscript(filepath.Join(d.w.Sessions, d.c.Session.ID+".jsonl"))
	prompt, err := d.prompt(ctx, transcript)
	if err != nil {
		return nil, err
	}
	facts := []control.Fact{{Execution: string(d.execution)}, {Turn: &control.TurnStarted{Through: d.c.Through, Prompt: prompt.Text}}}
	directive := d.report(control.Report{Facts: append(d.stands(&tree), facts...)})
	if directive == control.StopTree {
		return nil, nil
	}
	who, err := d.authority(ctx)
	if err != nil {
		return nil, err
	}
	box, release, err := d.w.Tools(tree.Dir, who)
	if err != nil {
		return nil, err
	}
	defer release()
	recorded := record(box, d)
	spec := d.spec(tree.Dir, prompt, transcript, recorded)
	if _, err := d.w.Runtime.Launch(ctx, spec); err != nil {
		return nil, err
	}
	d.launched = true
	return d.follow(ctx, recorded)
}

func (d *drive) order() workspace.Order {
	t := &d.c.Task
	o := workspace.Order{Identifier: t.Identifier, Title: t.Title}
	if t.Repository != nil {
		o.Repository, o.Base = t.Repository.Path, t.Repository.Base
	}
	o.Restore = restoration(t)
	return o
}

// prompt builds the prompt. A turn that was cut off in an agent whose loop runs here goes on as that very turn.
func (d *drive) prompt(ctx context.Context, transcript agent.Transcript) (agent.Prompt, error) {
	p := agent.Prompt{ID: promptID(d.c.Run.ID, d.c.Run.Fence.Number), Role: string(d.c.Assignment.Capacity)}
	entries, err := transcript.Load(ctx)
	if err != nil {
		return p, fmt.Errorf("read session: %w", err)
	}
	if d.c.Interrupted {
		p.ID = goesOn(entries, d.c.Run.ID, p.ID, unheard(d.c), d.c.Task.Worktree.Since > 0)
	}
	p.Text = buildPrompt(promptInput{
		Task: d.c.Task, Step: d.c.Step, Assignment: d.c.Assignment, Session: d.c.Session, Profile: d.c.Agent, Wakes: d.c.Wakes,
		Strange: len(entries) == 0 && d.c.Session.External == "",
		Records: d.c.Records, Interrupted: d.c.Interrupted, Failed: d.c.Failed, Summary: d.c.Summary,
	})
	return p, nil
}

// goesOn names the turn that a claim after an interruption goes on with: the session's last turn if the run began it, and
// it is open or only its end was not heard. Otherwise the turn is a new one: what another run began belongs to a visit
// that has ended. moved says that the work was let go from a node once: what is on this one may be from before, and only a
// turn whose beginning is on record since counts.
func goesOn(entries []agent.Entry, run, fresh string, unheard map[string]bool, moved bool) string {
	turn, ended := agent.LastTurn(entries)
	if len(turn) == 0 {
		return fresh
	}
	prompt := turn[0].PromptID
	if unheard[prompt] || !ended && !moved && strings.HasPrefix(prompt, run+"_") {
		return prompt
	}
	return fresh
}

// unheard names the prompts of the run's claims that began a turn of which no end is on record. A turn that was cut off
// twice bears the name of its first claim.
func unheard(c *control.Claimed) map[string]bool {
	found := map[string]bool{}
	for _, r := range current(c) {
		switch r.Kind {
		case fairlead.RecordTurnEnded:
			if !control.CutOff(r) {
				clear(found)
			}
		case fairlead.RecordTurnStarted:
			var d struct{ Fence int64 }
			if r.Run == c.Run.ID && json.Unmarshal(r.Data, &d) == nil {
				found[promptID(r.Run, d.Fence)] = true
			}
		}
	}
	return found
}

// promptID names the turn that a claim of a run begins.
func promptID(run string, fence int64) string { return fmt.Sprintf("%s_%d", run, fence) }

// authority is what the run's tools act with. The start of the turn may have carried the run into another visit.
func (d *drive) authority(ctx context.Context) (Authority, error) {
	assignment := d.c.Assignment.ID
	if d.c.Step != nil && len(d.c.Step.On[fairlead.TriggerTurnStart]) > 0 {
		var err error
		if assignment, err = d.w.Queue.CarriedTo(ctx, d.c.Run.ID); err != nil {
			return Authority{}, err
		}
	}
	return Authority{
		Workspace: d.c.Run.Workspace, Task: d.c.Task.ID, Fence: d.c.Run.Fence, Palette: d.c.Agent.Tools,
		Actor: fairlead.Actor{Kind: fairlead.ActorAgent, Key: d.c.Run.Agent, Assignment: assignment, Run: d.c.Run.ID},
	}, nil
}

func (d *drive) spec(dir string, p agent.Prompt, transcript agent.Transcript, box agent.ToolBox) agent.LaunchSpec {
	a := &d.c.Agent
	model := a.Model
	if d.c.Step != nil && d.c.Step.Model != "" {
		model = d.c.Step.Model
	}
	var env []string
	for k, v := range a.Environment {
		env = append(env, k+"="+v)
	}
	return agent.LaunchSpec{
		ID: d.execution, Workspace: dir, Prompt: p, Session: d.c.Session.External, Transcript: transcript, Tools: box, Model: model, Env: sorted(env),
		Profile: agent.Profile{
			Key: a.Key, Adapter: a.Adapter, Command: a.Command, Model: a.Model, Account: a.Account, Instructions: a.Instructions, Script: a.Script,
		},
		Metadata: map[string]string{"run": d.c.Run.ID, "task": d.c.Task.ID, "agent": a.Key},
	}
}

// endTree makes sure that nothing of the run is alive.
func (d *drive) endTree() {
	if !d.launched {
		return
	}
	d.halting.Wait()
	// The death of the tree must not depend on anybody's patience.
	if err := d.w.Runtime.Stop(context.WithoutCancel(d.w.ctx), d.execution, agent.StopFinished); err != nil {
		d.w.Log.Error("stop agent", "run", d.c.Run.ID, "error", err)
	}
}

// report sends facts under the run's fence and returns what to do next. A report that fails is sent again under its
// number until it is taken: a fact must not be lost, and control carries it out once.
func (d *drive) report(r control.Report) control.Directive {
	d.reporting.Lock()
	defer d.reporting.Unlock()
	d.seq++
	r.Run, r.Fence, r.Node, r.Seq, r.Claimed = d.c.Run.ID, d.c.Run.Fence, d.w.node, d.seq, d.c.Run
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		directive, err := d.w.Queue.Report(context.WithoutCancel(d.traced), r)
		if err == nil {
			if directive == control.StopTree {
				d.tellStop()
			}
			return directive
		}
		d.w.Log.Error("report run", "run", d.c.Run.ID, "report", r.Seq, "error", err)
		if permanent(err) || d.w.ctx.Err() != nil {
			d.tellStop()
			return control.StopTree
		}
		select {
		case <-time.After(pause):
		case <-d.w.ctx.Done():
		}
	}
}

// permanent reports whether the same report would fail again: a fault of the report itself.
func permanent(err error) bool {
	var e *fairlead.Error
	return errors.As(err, &e) && e.Code != fairlead.CodeUnavailable && e.Code != fairlead.CodeInternal
}

// failureOf classifies an error of our own doing; what an agent or provider says comes classified.
func failureOf(err error) *fairlead.Failure {
	var f *fairlead.Failure
	if errors.As(err, &f) {
		return f
	}
	var e *fairlead.Error
	if errors.As(err, &e) && e.Code != fairlead.CodeUnavailable && e.Code != fairlead.CodeInternal {
		text := err.Error()
		if e.Hint != "" {
			text += " (" + e.Hint + ")"
		}
		return &fairlead.Failure{Class: fairlead.ClassConfiguration, Message: text}
	}
	return &fairlead.Failure{Class: fairlead.ClassTransient, Message: err.Error()}
}
