package control

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/schedule"
	"github.com/fairlead/fairlead/internal/workflow"
)

// A heartbeat has one timer per task and step. It is set in the transaction that begins the visit and removed in the one
// that ends it, so none ever fires for a step that the task has left.

// beatTimer is the payload of a heartbeat's timer.
type beatTimer struct {
	// Last is up to when every occurrence was dealt with.
	Last fairlead.Stamp `json:"last"`
}

// Outcomes of a heartbeat that are counted by day.
const (
	beatFired = "fired"
	beatIdle  = schedule.ReasonGuard
)

func beatRef(task, step string) string { return task + "/" + step }

// beginBeat sets the heartbeat of the step where the task now stands, if it has one.
func (w *work) beginBeat() error {
	step, err := w.pinnedStep(w.task.row.Step)
	if err != nil || step == nil || step.Heartbeat == nil || step.Terminal != fairlead.TerminalNone {
		return err
	}
	return w.armBeat(step.Heartbeat, w.now)
}

// endBeat removes the heartbeat of the step that the task leaves.
func (w *work) endBeat() error {
	step, err := w.pinnedStep(w.task.row.Step)
	if err != nil || step == nil || step.Heartbeat == nil {
		return err
	}
	_, err = w.tx.DeleteTimer(fairlead.TimerHeartbeat, beatRef(w.task.row.ID, step.Key))
	return err
}

// renewBeat is for a visit that pins another version: its step may beat otherwise, or not at all.
func (w *work) renewBeat() error {
	t := &w.task.row.Task
	if _, err := w.tx.DeleteTimer(fairlead.TimerHeartbeat, beatRef(t.ID, t.Step)); err != nil {
		return err
	}
	return w.beginBeat()
}

// armBeat sets the timer for the first occurrence after last.
func (w *work) armBeat(h *workflow.Heartbeat, last time.Time) error {
	s, _, err := h.Schedule()
	if err != nil {
		return err
	}
	next := s.Next(last)
	if next.IsZero() {
		return nil
	}
	t := &w.task.row.Task
	return w.tx.PutTimer(&fairlead.Timer{
		ID: w.id(fairlead.PrefixTimer), Workspace: t.Workspace, Kind: fairlead.TimerHeartbeat, Task: t.ID, Ref: beatRef(t.ID, t.Step),
		DueAt: next, Payload: marshal(beatTimer{Last: fairlead.StampOf(last)}),
	})
}

// beatDue fires a heartbeat. The next timer is set first: a beat that moves the task removes it with the visit.
func (w *work) beatDue(t fairlead.Timer) error {
	step, err := w.pinnedStep(w.task.row.Step)
	row := &w.task.row.Task
	if err != nil || step == nil || step.Heartbeat == nil || t.Ref != beatRef(row.ID, step.Key) || row.Ended() {
		return err
	}
	var state beatTimer
	if err := unmarshal(t.Payload, &state); err != nil {
		return err
	}
	s, policy, err := step.Heartbeat.Schedule()
	if err != nil {
		return err
	}
	fires, receipts := s.Missed(policy, state.Last.Time, w.now)
	missed, err := w.beatReceipts(step.Key, receipts)
	if err != nil {
		return err
	}
	last := w.now
	if state.Last.After(last) {
		last = state.Last.Time // a clock that was set back does not repeat what was dealt with
	}
	if err := w.armBeat(step.Heartbeat, last); err != nil {
		return err
	}
	visit := row.Visit
	for _, f := range fires {
		if row.Visit != visit {
			return nil
		}
		if err := w.beat(step, f, missed); err != nil {
			return err
		}
		missed = 0
	}
	return nil
}

// beatReceipts writes what became of missed occurrences and counts those that no fire makes up for.
func (w *work) beatReceipts(step string, receipts []schedule.Receipt) (missed int, err error) {
	for _, r := range receipts {
		if r.Outcome == schedule.OutcomeSkipped {
			missed += r.Count
		}
		if err := w.tx.InsertReceipt(w.beatReceipt(step, r)); err != nil {
			return missed, err
		}
	}
	return missed, nil
}

func (w *work) beatReceipt(step string, r schedule.Receipt) fairlead.Receipt {
	return fairlead.Receipt{
		ID: w.id(fairlead.PrefixReceipt), Workspace: w.task.row.Workspace, Kind: fairlead.ScheduleHeartbeat, Ref: w.task.row.ID, Step: step,
		At: r.At, Until: r.Until, Count: r.Count, Outcome: string(r.Outcome), Reason: r.Reason, Cause: fairlead.CauseSchedule, MadeAt: w.now,
	}
}

// beat fires one occurrence. What comes to nothing costs one counter and no record; what is held up is told by one
// receipt, however often.
func (w *work) beat(step *workflow.Step, f schedule.Fire, missed int) error {
	reason, err := w.beatHeldUp(step)
	if err != nil {
		return err
	}
	if reason == "" {
		outcome, err := w.fireBeat(f, missed)
		if err != nil {
			return err
		}
		return w.tx.CountBeat(w.task.row.ID, step.Key, w.now.Format(time.DateOnly), outcome)
	}
	return w.beatSkipped(step.Key, f.At, reason)
}

func (w *work) beatSkipped(step string, at time.Time, reason string) error {
	r := w.beatReceipt(step, schedule.Receipt{At: at, Until: at, Count: 1, Outcome: schedule.OutcomeSkipped, Reason: reason})
	if extended, err := w.tx.ExtendReceipt(r); err != nil || extended {
		return err
	}
	return w.tx.InsertReceipt(r)
}

// beatRefused stands for a beat that was refused: the next one comes in its time.
func (w *work) beatRefused(t fairlead.Timer, _ error) error {
	step, err := w.pinnedStep(w.task.row.Step)
	if err != nil || step == nil || step.Heartbeat == nil || t.Ref != beatRef(w.task.row.ID, step.Key) {
		return err
	}
	if err := w.armBeat(step.Heartbeat, w.now); err != nil {
		return err
	}
	return w.beatSkipped(step.Key, t.DueAt, schedule.ReasonError)
}

// fireBeat lets the engine decide on a heartbeat and says what came of it.
func (w *work) fireBeat(f schedule.Fire, missed int) (outcome string, err error) {
	plan, err := w.decide(engine.Trigger{
		Kind: fairlead.TriggerHeartbeat, Payload: map[string]any{"fire_time": stampText(f.At), "missed": missed},
	})
	if err != nil {
		return "", err
	}
	if len(plan.Effects) == 0 && slices.ContainsFunc(plan.Why, func(e engine.Explanation) bool { return e.Action == actionOnlyIf }) {
		return beatIdle, nil
	}
	return beatFired, nil
}

// stampText is a time as guards and metadata read it.
func stampText(at time.Time) string {
	b, err := fairlead.StampOf(at).MarshalText()
	if err != nil {
		return "" // a stamp is always written
	}
	return string(b)
}

// actionOnlyIf is what the engine calls a heartbeat's condition in its explanations.
const actionOnlyIf = "only_if"

func isRefusal(e *fairlead.Error) bool {
	return e.Code != fairlead.CodeInternal && e.Code != fairlead.CodeUnavailable
}

// beatHeldUp says why a heartbeat that only wakes the primary would do nothing new: its agent is paused, or the run of
// the beat before is still queued. Else a paused agent would find a wake for each beat of its pause.
func (w *work) beatHeldUp(step *workflow.Step) (reason string, err error) {
	actions := step.On[fairlead.TriggerHeartbeat]
	if len(actions) != 1 || actions[0].Kind != workflow.ActionQueueRun || actions[0].Target.Kind != workflow.TargetPrimary ||
		actions[0].Task != "" && actions[0].Task != "this" {
		return "", nil
	}
	s, err := w.load()
	if err != nil {
		return "", err
	}
	agent := s.Task.Agent
	if agent == "" {
		agent = step.Agent
	}
	if s.Agents[agent].Paused {
		return schedule.ReasonPaused, nil
	}
	wanted := actions[0].Reason
	if wanted == "" {
		wanted = string(fairlead.TriggerHeartbeat)
	}
	runs, err := w.tx.ActiveRuns(w.task.row.ID)
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(runs, func(r fairlead.Run) bool {
		return r.Status == fairlead.RunQueued && r.Agent == agent && r.Visit == s.Task.Visit && r.Reason == wanted
	}) {
		return schedule.ReasonQueued, nil
	}
	return "", nil
}
