package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// Directive is what a worker has to do after a report.
type Directive int

// The directives.
const (
	// Continue: go on as before.
	Continue Directive = iota
	// StopTree: end the whole process tree at once and report TreeDead. Nothing else of this claim is accepted.
	StopTree
	// ParkAfterTurn: let the turn end by itself, and cancel it after 60 s.
	ParkAfterTurn
)

// Report is what a worker tells about one claim of a run: facts in order, then perhaps the end of the turn. It is
// carried out in one transaction.
type Report struct {
	Run   string
	Fence fairlead.Fence
	Node  Node
	// Claimed is the run as its claim returned it; the zero value is looked up.
	Claimed fairlead.Run
	// Seq counts the reports of this claim from 1. A report sent again under its number is not carried out again.
	Seq   int64
	Facts []Fact
	End   *TurnEnd
	// TreeDead says that every process of the run is confirmed dead. Only then is what the run occupies freed; it comes
	// with the end or after it.
	TreeDead bool
}

// Fact is one thing that happened. Exactly one member is set.
type Fact struct {
	// Turn: the prompt is about to be given to the agent. Comes before the launch, once a claim.
	Turn *TurnStarted
	// Execution: the process or loop of this name serves the session. Comes before or with Turn.
	Execution string
	// External is the agent's own name of the conversation.
	External string
	// Record is an entry of the assignment's journal.
	Record *Entry
	// Event is a line of the run's log: shown to people, kept out of the journal.
	Event *Line
	// Tree comes before Turn, where several nodes share the database and the task works in a repository.
	Tree *TreeReady
	// Left comes with the end of the run, where several nodes share the database.
	Left *TreeLeft
}

// TurnStarted marks a range of the journal as in flight: through the last record that the prompt holds.
type TurnStarted struct {
	Through int64
	// Prompt is the text as the agent gets it; long ones are kept by their hash.
	Prompt string
}

// Entry is a record of the kinds message, effect_intent, effect_outcome, usage and program_move. Data is a JSON object;
// in one over 64 KiB the longest texts are cut to their ends, with length and hash of the whole beside them.
type Entry struct {
	Kind string
	Data json.RawMessage
}

// Line is an entry of a run's log.
type Line struct {
	Kind string
	Data map[string]any
}

// TurnEnd says how a turn, or an attempt that came to none, ended.
type TurnEnd struct {
	// StopReason is the runtime's word: end_turn, parked, cancelled, unasked, limit, refusal, failed ... A turn that was
	// cancelled although nobody stopped the run is a failed one.
	StopReason string
	// Outcome is "" for a turn that worked, or fairlead.OutcomeNothingToDo.
	Outcome string
	// Failure makes the attempt a failed one.
	Failure *fairlead.Failure
	// Interrupted hands the run back: it is queued again and its turn goes on there. Needs TreeDead. Counted says that
	// it was cut off by a fault, three of which in a row are a failure, and not by a shutdown in good order.
	Interrupted bool
	Counted     bool
}

// reasonFenced marks the refusal of a report that speaks for a claim which is over, or for a dead epoch.
const reasonFenced = "fenced"

// Report carries out what a worker tells. A report of an older claim or a dead epoch changes nothing: it is recorded as
// refused and answered StopTree, without an error. After an error the same report may be sent again.
func (c *Control) Report(ctx context.Context, r Report) (Directive, error) {
	run := r.Claimed
	if run.ID != r.Run {
		var err error
		if run, err = c.findRun(ctx, r.Run); err != nil {
			return StopTree, err
		}
	}
	// The scope leaves the assignment out: a report may carry its run to another one.
	m := Meta{
		Workspace: run.Workspace, Actor: fairlead.Actor{Kind: fairlead.ActorAgent, Key: run.Agent, Run: run.ID}, Fence: &r.Fence,
		Op: fairlead.OpID("report_" + run.ID + "_" + strconv.FormatInt(r.Fence.Number, 10) + "_" + strconv.FormatInt(r.Seq, 10)),
	}
	d, err := c.carryOut(ctx, m, run.Task, r, r.needs(&run))
	var e *fairlead.Error
	if errors.As(err, &e) && e.Reason == reasonFenced {
		return StopTree, c.noteRefused(ctx, run, r)
	}
	if err != nil {
		return Continue, err
	}
	return d, nil
}

// carryOut is do for a report: the run's row says which was carried out last, so that none needs an operation of its own.
func (c *Control) carryOut(ctx context.Context, m Meta, task string, r Report, needs []store.Need) (d Directive, err error) {
	cmd := command{name: "report", run: r.Run}
	ctx, end := c.span(ctx, m, &cmd)
	defer func() { end(err) }()
	err = c.act(ctx, m, func(w *work) (err error) {
		w.tx.Ahead(needs...)
		d, err = w.report(task, r)
		return err
	})
	if err != nil {
		err = c.refused(ctx, m, cmd, err)
	}
	return d, err
}

// needs is what every report reads.
func (r *Report) needs(run *fairlead.Run) []store.Need {
	return []store.Need{
		store.NeedNode(r.Node.ID, r.Node.Epoch), store.NeedTask(run.Task), store.NeedAround(run.Task), store.NeedActiveRuns(run.Task),
		store.NeedSession(run.Session), store.NeedAssignment(run.Assignment), store.NeedRunLine(run.ID),
	}
}

func (c *Control) findRun(ctx context.Context, id string) (run fairlead.Run, err error) {
	err = c.db.Read(ctx, func(tx *storeReadTx) (err error) {
		run, err = tx.LoadRun(id)
		return err
	})
	if err != nil {
		return run, fmt.Errorf("find run: %w", err)
	}
	return run, nil
}

// noteRefused writes the refused report into the run's log.
func (c *Control) noteRefused(ctx context.Context, run fairlead.Run, r Report) error {
	return c.act(ctx, Meta{Workspace: run.Workspace, Actor: fairlead.Engine()}, func(w *work) error {
		if err := w.lock(run.Task); err != nil {
			return err
		}
		now, err := w.tx.LoadRun(run.ID)
		if err != nil {
			return err
		}
		return w.runEvent(&now, fairlead.RunEventRefused, map[string]any{"fence": r.Fence.Number, "node": r.Node.ID, "report": r.Seq})
	})
}

// report carries out one report under the locks.
func (w *work) report(task string, rep Report) (Directive, error) {
	var err error
	if w.node, err = w.tx.LockNode(rep.Node.ID, rep.Node.Epoch); err != nil {
		if fairlead.IsCode(err, fairlead.CodeConflict) {
			return StopTree, fenced()
		}
		return StopTree, err
	}
	if err := w.lock(task); err != nil {
		return StopTree, err
	}
	if _, err := w.tx.ActiveRuns(task); err != nil { // LoadRun answers from them from here on
		return StopTree, err
	}
	r, err := w.tx.LoadRun(rep.Run)
	if err != nil {
		return StopTree, err
	}
	if r.Heard(rep.Fence.Number, rep.Seq) {
		return w.heard(&r, rep)
	}
	if err := w.tx.ExpectRunEvents(r.ID); err != nil {
		return StopTree, err
	}
	if !r.Status.Live() || r.Fence != rep.Fence || r.Node != rep.Node.ID || r.Epoch != rep.Node.Epoch {
		return StopTree, fenced()
	}
	w.meta.Actor.Assignment = r.Assignment
	r.Reported = fairlead.ReportMark(rep.Fence.Number, rep.Seq)
	d := StopTree
	if r.Status == fairlead.RunStopping {
		err = w.lateReport(&r, rep)
	} else {
		d, err = w.freshReport(&r, rep)
	}
	if err != nil {
		return d, err
	}
	return d, w.tx.MarkReported(rep.Run, fairlead.ReportMark(rep.Fence.Number, rep.Seq)) // in case nobody saved the run
}

// heard answers a report that was carried out already: its answer was lost. What is to be done next may be more by now.
func (w *work) heard(r *fairlead.Run, rep Report) (Directive, error) {
	if r.Fence != rep.Fence || r.Status != fairlead.RunClaimed && r.Status != fairlead.RunRunning {
		return StopTree, nil
	}
	return w.directive(r)
}

func fenced() error {
	return fairlead.Conflict(reasonFenced, "this claim of the run is over").WithHint("end the process tree; the run goes on elsewhere")
}

// freshReport is a report of a run that works as it should.
func (w *work) freshReport(r *fairlead.Run, rep Report) (Directive, error) {
	for i := range rep.Facts {
		if err := w.fact(r, &rep.Facts[i]); err != nil {
			return Continue, err
		}
	}
	switch {
	case rep.End != nil:
		return StopTree, w.turnEnded(r, *rep.End, rep.TreeDead)
	case rep.TreeDead:
		return StopTree, fairlead.Errorf(fairlead.CodeInvalid, "the tree is dead but the turn has no end").
			WithHint("report the end with it: a failure or an interruption")
	}
	return w.directive(r)
}

// directive tells a run whose turn goes on what to do next. The facts may have moved it or told it to stop.
func (w *work) directive(r *fairlead.Run) (Directive, error) {
	now, err := w.tx.LoadRun(r.ID)
	if err != nil {
		return Continue, err
	}
	a, err := w.tx.LoadAssignment(now.Assignment)
	switch {
	case err != nil:
		return Continue, err
	case now.Status == fairlead.RunStopping:
		return StopTree, nil
	case now.StopStatus != "" || a.ParkRequested:
		return ParkAfterTurn, nil
	}
	if stopped, err := w.stopByBudget(&now); err != nil || stopped {
		return ParkAfterTurn, err
	}
	return Continue, nil
}

// lateReport is a report of a run that was told to stop, or whose turn has ended: what it cost and said still counts,
// and the death of its tree makes it final. Everything else is noted and changes nothing.
func (w *work) lateReport(r *fairlead.Run, rep Report) error {
	for i := range rep.Facts {
		f := &rep.Facts[i]
		if !f.afterStop() {
			if err := w.runEvent(r, fairlead.RunEventRefused, map[string]any{"fact": f.name(), "report": rep.Seq}); err != nil {
				return err
			}
			continue
		}
		if err := w.fact(r, f); err != nil {
			return err
		}
	}
	if !rep.TreeDead {
		return nil
	}
	if err := w.runEvent(r, fairlead.RunEventTreeDead, nil); err != nil {
		return err
	}
	return w.treeDied(r)
}
