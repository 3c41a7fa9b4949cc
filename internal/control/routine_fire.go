package control

import (
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/schedule"
)

// firing is one fire of a routine.
type firing struct {
	at      time.Time
	cause   string
	late    bool
	waited  bool // it is the one that waited
	force   bool // a person's: no rule for overlaps holds it back
	payload map[string]any
}

// fired is what became of a firing.
type fired struct {
	outcome, reason string
	task            *fairlead.TaskRef
}

// fireRoutine admits a fire and makes its task. The caller holds the workspace's lock and writes the routine afterwards.
// A fire that is refused before anything was written leaves a receipt and is no error, unless somebody waits for its
// answer.
func (w *work) fireRoutine(r *fairlead.Routine, f firing) (fired, error) {
	admission, reason, err := w.admit(r, f)
	if err != nil {
		return fired{}, err
	}
	switch admission {
	case schedule.AdmitSkip:
		return fired{outcome: fairlead.FireSkipped, reason: reason}, w.routineSkipped(r, f, reason)
	case schedule.AdmitWait:
		if f.waited {
			return fired{outcome: fairlead.FireWaits}, nil
		}
		r.Waiting = &fairlead.WaitingFire{At: fairlead.StampOf(f.at), Cause: f.cause, Payload: f.payload}
		return fired{outcome: fairlead.FireWaits}, w.routineReceipt(r, single(f.at, fairlead.FireWaits, schedule.ReasonOverlap), f.cause, "")
	case schedule.AdmitFire:
	}
	if f.waited {
		r.Waiting = nil
	}
	spec, err := w.newTask(routineTask(r, f))
	if isRefused(err) && (f.waited || f.cause == fairlead.CauseSchedule) {
		return fired{outcome: fairlead.FireSkipped, reason: schedule.ReasonError}, w.routineFailed(r, f, err)
	}
	if err != nil {
		return fired{}, err
	}
	return w.makeTask(r, f, spec)
}

// admit asks the routine's rule for overlaps.
func (w *work) admit(r *fairlead.Routine, f firing) (schedule.Admission, string, error) {
	if f.force {
		return schedule.AdmitFire, "", nil
	}
	rule, err := schedule.ParseOverlap(r.Overlap)
	if err != nil {
		return "", "", err
	}
	if err := w.tx.DropRoutineTasks(r.Workspace, r.Key); err != nil {
		return "", "", err
	}
	open, err := w.tx.OpenRoutineTasks(r.Workspace, r.Key)
	if err != nil {
		return "", "", err
	}
	waiting := 0
	if r.Waiting != nil && !f.waited {
		waiting = 1
	}
	admission, reason := rule.Admit(len(open), waiting)
	if f.waited && admission == schedule.AdmitSkip {
		r.Waiting = nil // the rule was changed to skip while it waited
	}
	return admission, reason, nil
}

// routineTask is the task that a fire makes.
func routineTask(r *fairlead.Routine, f firing) fairlead.NewTask {
	meta := map[string]any{"routine": r.Key, "fire_time": stampText(f.at), "cause": f.cause}
	if f.payload != nil {
		meta["payload"] = f.payload
	}
	return fairlead.NewTask{
		Title: r.Title, Workflow: r.Workflow, Description: r.Description, Labels: r.Labels, Agent: r.Agent, Priority: r.Priority, Metadata: meta,
	}
}

func (w *work) makeTask(r *fairlead.Routine, f firing, spec taskSpec) (fired, error) {
	spec.task.Origin = fairlead.OriginRoutine
	made, err := w.create(spec)
	if err != nil {
		return fired{}, err
	}
	if err := w.flush(); err != nil {
		return fired{}, err
	}
	if err := w.tx.PutRoutineTask(made.row.ID, r.Workspace, r.Key); err != nil {
		return fired{}, err
	}
	outcome, reason := fairlead.FireFired, ""
	if f.late {
		outcome, reason = fairlead.FireCaughtUp, schedule.ReasonMissed
	}
	r.LastAt, r.LastTask = f.at, made.row.Identifier
	err = w.routineReceipt(r, single(f.at, schedule.Outcome(outcome), reason), f.cause, made.row.ID)
	return fired{outcome: outcome, reason: reason, task: taskRef(&made.row.Task)}, err
}

func single(at time.Time, outcome schedule.Outcome, reason string) schedule.Receipt {
	return schedule.Receipt{At: at, Until: at, Count: 1, Outcome: outcome, Reason: reason}
}

// routineReceipt writes the proof of what became of a fire.
func (w *work) routineReceipt(r *fairlead.Routine, x schedule.Receipt, cause, task string) error {
	return w.tx.InsertReceipt(w.receiptOf(r, x, cause, task))
}

// routineSkipped tells of a fire that makes no task. A schedule that is held up for long leaves one receipt for all of its
// fires in a row.
func (w *work) routineSkipped(r *fairlead.Routine, f firing, reason string) error {
	x := w.receiptOf(r, single(f.at, schedule.OutcomeSkipped, reason), f.cause, "")
	if f.cause == fairlead.CauseSchedule {
		if extended, err := w.tx.ExtendReceipt(x); err != nil || extended {
			return err
		}
	}
	return w.tx.InsertReceipt(x)
}

func (w *work) receiptOf(r *fairlead.Routine, x schedule.Receipt, cause, task string) fairlead.Receipt {
	return fairlead.Receipt{
		ID: w.id(fairlead.PrefixReceipt), Workspace: r.Workspace, Kind: fairlead.ScheduleRoutine, Ref: r.Key,
		At: x.At, Until: x.Until, Count: x.Count, Outcome: string(x.Outcome), Reason: x.Reason, Cause: cause, Task: task, MadeAt: w.now,
	}
}

// toldRoutine lets the routine that made the locked task look whether a fire waited for its end. What waits is looked
// for under the workspace's lock, in a fire of its own: a fire that is deciding to wait right now is not missed.
func (w *work) toldRoutine() error {
	if w.task.row.Origin != fairlead.OriginRoutine {
		return nil
	}
	key, err := w.tx.RoutineOf(w.task.row.ID)
	if err != nil || key == "" {
		return err
	}
	return w.lookAtWaiting(w.task.row.Workspace, key)
}
