package control

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/store"
)

// Values of StartBody.IfBusy.
const (
	ifBusyFail  = "fail"
	ifBusyQueue = "queue"
)

// Start launches an agent on a task for a person, past the queue: it takes the assignment's queued run if there is one,
// claims it on this node under the rules of a claim, except for the agent's limit, its cool-down, settle and the
// queue's order, and hands it to the worker. Busy or held is a conflict that names with what, or a queued run.
func (c *Control) Start(ctx context.Context, m Meta, ref string, body fairlead.StartBody) (fairlead.StartResult, error) {
	cmd := command{name: "start task", body: struct {
		Task string
		Body fairlead.StartBody
	}{ref, body}}
	s := start{c: c, body: body, launcher: c.launcher()}
	var err error
	if err = s.check(m.Actor); err == nil {
		s.task, err = c.resolve(ctx, m.Workspace, ref)
	}
	if err == nil {
		s.claim, err = c.newClaim()
	}
	if err != nil {
		return fairlead.StartResult{}, c.refused(ctx, m, cmd, err)
	}
	if m.Op == "" {
		m.Op = fairlead.OpID("op_" + s.claim) // fixed here, so that an unknown outcome can be asked for again
	}
	s.reserved = s.launcher != nil && !s.c.skewed.Load() && s.launcher.Reserve()
	result, err := s.run(ctx, m, cmd)
	if s.claimed == nil {
		s.release()
		return result, err
	}
	s.launcher.Launch(s.claimed)
	return result, err
}

// start is one direct launch.
type start struct {
	c        *Control
	body     fairlead.StartBody
	task     string
	claim    string // random half of the fence
	launcher Launcher
	reserved bool
	claimed  *Claimed // what the committed try claimed
}

func (s *start) check(a fairlead.Actor) error {
	if a.Kind != fairlead.ActorPerson {
		return fairlead.Errorf(fairlead.CodeForbidden, "only a person launches an agent directly").
			WithHint("a comment or a trigger wakes agents through the queue")
	}
	if s.body.IfBusy != "" && s.body.IfBusy != ifBusyFail && s.body.IfBusy != ifBusyQueue {
		return invalidField("if_busy", "unknown value", "use fail or queue")
	}
	if len(s.body.Message) > maxText {
		return invalidField("message", "the message is too long", "use at most 64 KiB")
	}
	return nil
}

func (s *start) release() {
	if s.reserved {
		s.launcher.Release()
	}
}

// run carries the command out; after a commit of unknown outcome it asks again, and its claim id tells what came of it.
func (s *start) run(ctx context.Context, m Meta, cmd command) (fairlead.StartResult, error) {
	if s.reserved {
		n := s.launcher.Node()
		cmd.ahead = append(cmd.ahead, store.NeedNode(n.ID, n.Epoch))
	}
	cmd.ahead = append(cmd.ahead, store.NeedTask(s.task), store.NeedAround(s.task))
	for {
		result, err := do(ctx, s.c, m, cmd, func(w *work) (fairlead.StartResult, error) {
			s.claimed = nil
			return s.attempt(w)
		})
		switch {
		case errors.Is(err, store.ErrUnknown):
			continue
		case err != nil:
			s.claimed = nil
			return result, err
		}
		if s.claimed == nil && result.Launched {
			s.claimed, err = s.adopt(ctx, m, result.Run)
		}
		return result, err
	}
}

// adopt returns the claim of a launch whose first answer was lost; nil if the operation is an older call's.
func (s *start) adopt(ctx context.Context, m Meta, run string) (claimed *Claimed, err error) {
	if !s.reserved {
		return nil, nil
	}
	n := s.launcher.Node()
	err = s.c.act(ctx, m, func(w *work) error {
		claimed = nil
		if _, err := w.tx.LockNode(n.ID, n.Epoch); err != nil {
			return err
		}
		if err := w.lock(s.task); err != nil {
			return err
		}
		r, err := w.tx.LoadRun(run)
		if err != nil || r.Fence.Claim != s.claim || r.Status != fairlead.RunClaimed {
			return err
		}
		agent, err := w.tx.LoadAgent(r.Workspace, r.Agent)
		if err != nil {
			return err
		}
		claimed, err = w.claimedAgain(&r, agent)
		return err
	})
	return claimed, err
}

// attempt is the command inside its transaction: the node, the task, the message and the wake, then the claim.
func (s *start) attempt(w *work) (fairlead.StartResult, error) {
	var none fairlead.StartResult
	if s.reserved {
		if n := s.launcher.Node(); true {
			if _, err := w.tx.LockNode(n.ID, n.Epoch); err != nil {
				return none, err
			}
		}
	}
	if err := w.lock(s.task); err != nil {
		return none, err
	}
	if err := w.ifVersion(w.task.row.Version); err != nil {
		return none, err
	}
	r, err := s.queue(w)
	if err != nil {
		return none, err
	}
	g, err := s.gate(w, r)
	if err != nil {
		return none, err
	}
	busy, err := s.busy(g)
	if err != nil {
		return none, err
	}
	if busy != nil {
		if s.body.IfBusy != ifBusyQueue && !elsewhere(busy) {
			return none, busy
		}
		return fairlead.StartResult{Run: r.ID, Status: fairlead.RunQueued}, nil
	}
	return s.launch(w, g, r)
}

// queue writes the message and wakes the agent: its queued run is what will be claimed.
func (s *start) queue(w *work) (*fairlead.Run, error) {
	if w.task.row.Held != "" {
		if _, err := w.decide(engine.Trigger{Kind: engine.KindRelease}); err != nil {
			return nil, err
		}
	}
	payload := map[string]any{}
	if strings.TrimSpace(s.body.Message) != "" {
		comment, err := w.addComment(w.meta.Actor, s.body.Message)
		if err != nil {
			return nil, err
		}
		payload["comment_id"] = comment.ID
	}
	to := "primary"
	if s.body.Agent != "" {
		to = "agent:" + s.body.Agent
	}
	plan, err := w.decide(engine.Trigger{Kind: engine.KindWake, Payload: map[string]any{"to": to, "reason": "started", "payload": payload}})
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(plan.Effects, func(e engine.Effect) bool { _, ok := e.(engine.Wake); return ok })
	if i < 0 {
		return nil, nobody(plan)
	}
	// A claim reads the journal as it stands in the database.
	if err := w.flush(); err != nil {
		return nil, err
	}
	r, err := w.tx.QueuedRunOf(w.task.row.ID, plan.Effects[i].(engine.Wake).Assignment)
	if err == nil && r == nil {
		err = fairlead.Errorf(fairlead.CodeInternal, "the wake made no run")
	}
	return r, err
}

// nobody says why a start woke no agent.
func nobody(p engine.Plan) error {
	e := fairlead.Errorf(fairlead.CodeRefused, "there is no agent to start at this step")
	for _, why := range p.Why {
		if why.Reason != "" {
			e.Data = map[string]any{"reason": why.Reason, "detail": why.Detail}
		}
	}
	return e.WithHint("name an agent, or move the task to a step that has one")
}

// launch claims the run in this transaction.
func (s *start) launch(w *work, g *gate, r *fairlead.Run) (result fairlead.StartResult, err error) {
	s.claimed, err = w.claimFree(g, r, claimAs{node: s.launcher.Node(), claim: s.claim, direct: true})
	if isMiss(err) {
		err = fairlead.Conflict(fairlead.ReasonBusy, "somebody else was faster").WithHint("try again")
	}
	if err != nil {
		return fairlead.StartResult{}, err
	}
	return fairlead.StartResult{Run: r.ID, Status: r.Status, Launched: s.claimed != nil}, nil
}
