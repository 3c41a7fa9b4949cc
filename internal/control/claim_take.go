package control

import (
	"encoding/binary"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// claimAs says for whom a run is claimed.
type claimAs struct {
	node   Node
	claim  string // random half of the fence
	direct bool   // a person launches
}

// claim takes a queued run for a node, or says with a miss why not. nil, nil: the run had nothing to do and has ended.
// The run's task is locked.
func (w *work) claim(r *fairlead.Run, agent fairlead.AgentProfile, as claimAs) (*Claimed, error) {
	g, err := w.c.gate(&w.tx.ReadTx, w.task.row, *r)
	if err != nil {
		return nil, err
	}
	if r.Status != fairlead.RunQueued {
		return nil, miss("run")
	}
	g.node, g.agent = &as.node, agent
	hold, err := g.first()
	if err != nil {
		return nil, err
	}
	if hold != nil {
		return nil, w.held(r, hold)
	}
	return w.claimFree(g, r, as)
}

// claimFree takes a queued run that its gate lets pass in this transaction.
func (w *work) claimFree(g *gate, r *fairlead.Run, as claimAs) (*Claimed, error) {
	news, err := w.content(r)
	if err != nil {
		return nil, err
	}
	if !news.any() {
		r.Outcome = fairlead.OutcomeNothingToDo
		return nil, w.finishRun(r, fairlead.RunSucceeded)
	}
	k, err := w.claimed(r, g.agent, news)
	if err != nil {
		return nil, err
	}
	if err := w.tx.ExpectRunEvents(r.ID); err != nil {
		return nil, err
	}
	if err := w.occupy(r, g, as.direct); err != nil {
		return nil, err
	}
	if err := w.goFirst(r, g.ready); err != nil {
		return nil, err
	}
	if err := w.markClaimed(r, k, as); err != nil {
		return nil, err
	}
	return k, nil
}

// occupy takes everything a live run needs, together. A constraint's no is a miss, and the whole try is undone.
func (w *work) occupy(r *fairlead.Run, g *gate, direct bool) error {
	o := store.Occupation{Run: r.ID, Assignment: r.Assignment, Light: r.Light, Task: r.Task, Workspace: r.Workspace, Agent: r.Agent}
	switch {
	case r.Light:
	case direct:
		o.Slot = w.slotBeyond()
	default:
		slots, err := g.slots()
		if err != nil {
			return err
		}
		o.Slot = freeSlot(slots)
	}
	taken, err := w.tx.Occupy(o)
	if err != nil || taken != "" {
		return missed(err, taken)
	}
	if r.Light {
		return nil
	}
	ok, err := w.takePlace(r, false)
	if err == nil && !ok {
		err = w.held(r, &fairlead.Hold{Kind: fairlead.HoldWIP})
	}
	return err
}

// held is the miss of a run that something holds. Before a full step all wait: whoever looks further leaves the step out, or
// a worse run would be first when a place gets free meanwhile.
func (w *work) held(r *fairlead.Run, hold *fairlead.Hold) error {
	err := miss(string(hold.Kind))
	data := map[string]any{missHeld: true}
	if hold.Kind == fairlead.HoldWIP {
		data[missStep] = r.Workspace + "/" + w.task.row.Workflow + "/" + r.Step
	}
	err.Data = data
	return err
}

// slotBeyond returns a number far above any limit, for a direct launch. The smallest free one would make people who launch
// the same agent at once wait for each other's commits.
func (w *work) slotBeyond() int {
	const beyond = 1 << 20
	return beyond + int(binary.BigEndian.Uint32(w.seed[:])>>1)
}

// freeSlot returns the smallest number that is not among those taken, which are ascending.
func freeSlot(taken []int) int {
	n := 1
	for _, t := range taken {
		if t == n {
			n++
		}
	}
	return n
}

// takePlace takes a place at the run's step, if the step limits work and the task has none there. beyond allows a
// number above the limit: a turn that was carried to the step works there already.
func (w *work) takePlace(r *fairlead.Run, beyond bool) (bool, error) {
	t := &w.task.row.Task
	d, err := w.c.catalog.Definition(&w.tx.ReadTx, t.Workspace, t.Workflow, t.WorkflowVersion)
	if err != nil {
		return false, err
	}
	step := d.Step(r.Step)
	if step == nil || step.WIP <= 0 {
		return true, nil
	}
	places, err := w.tx.PlacesOf(r.Workspace, t.Workflow, r.Step)
	if err != nil || holdsPlace(places, t.ID) {
		return err == nil, err
	}
	limit := step.WIP
	if beyond {
		limit += len(places) + 1
	}
	n := freePlace(places, limit)
	if n == 0 {
		return false, nil
	}
	return w.tx.PutPlace(r.Workspace, t.Workflow, r.Step, n, t.ID)
}

// markClaimed writes the claim: a new fence, the node's epoch, the session on its way.
func (w *work) markClaimed(r *fairlead.Run, k *Claimed, as claimAs) error {
	if !r.Due { // one that is due has no timer any more
		if _, err := w.tx.DeleteTimer(fairlead.TimerRunDue, r.ID); err != nil {
			return err
		}
	}
	r.Status, r.Direct, r.Due, r.Settled = fairlead.RunClaimed, as.direct, true, false
	r.ClaimedAt, r.StartedAt = w.now, fairlead.Run{}.StartedAt
	r.ErrorClass, r.ErrorMessage = "", "" // of the attempt before
	// A run that went back to the queue got its next number there.
	r.Fence = fairlead.Fence{Number: max(r.Fence.Number, 1), Claim: as.claim}
	r.Node, r.Epoch = as.node.ID, as.node.Epoch
	if err := w.tx.SaveRun(r); err != nil {
		return err
	}
	if r.Fence.Number == 1 {
		if err := w.charge(r, policy.Spend{Runs: 1}); err != nil {
			return err
		}
	}
	if err := w.unpark(&k.Assignment); err != nil {
		return err
	}
	k.Session.State = fairlead.SessionStarting
	if err := w.tx.SaveSession(&k.Session); err != nil {
		return err
	}
	k.Run = *r
	w.forget()
	return w.runEvent(r, fairlead.RunEventClaimed, map[string]any{"node": r.Node, "fence": r.Fence.Number, "direct": r.Direct})
}

// unpark takes an assignment up again whose questions are all answered.
func (w *work) unpark(a *fairlead.Assignment) error {
	if a.State != fairlead.AssignmentParked {
		return nil
	}
	a.State = fairlead.AssignmentOpen
	return w.tx.SaveAssignment(a)
}
