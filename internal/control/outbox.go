package control

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/store"
)

// send leaves a trigger for another task. It is delivered right after this commit, or by whoever locks that task next.
func (w *work) send(e engine.Send) error {
	task := e.Task
	if agent, ok := strings.CutPrefix(task, "coordination:"); ok {
		id, err := w.tx.CoordinationTask(w.meta.Workspace, agent)
		if err != nil {
			return err
		}
		if id == "" {
			return w.addNotice(engine.AddNotice{Kind: "no_coordination_task", Text: "The agent " + agent + " has no coordination task.", Once: true})
		}
		task = id
	}
	op := e.Trigger.Op
	if op == "" {
		op = w.derivedOp("send", task)
	}
	return w.post(task, op, e.Kind, e.Trigger)
}

// derivedOp is the operation of something this command causes elsewhere.
func (w *work) derivedOp(parts ...string) fairlead.OpID {
	all := append([]string{w.meta.Workspace, w.meta.Actor.OpScope(), string(w.meta.Op), strconv.Itoa(w.nextSend())}, parts...)
	return fairlead.DerivedOp(all...)
}

// post writes an outbox row; the same operation for the same task is written once.
func (w *work) post(task string, op fairlead.OpID, kind string, payload any) error {
	if err := w.tx.InsertOutbox(fairlead.Outbox{
		Workspace: w.meta.Workspace, Task: task, Op: op, Kind: kind, Payload: marshal(payload), CreatedAt: w.now,
	}); err != nil {
		return fmt.Errorf("post to task: %w", err)
	}
	w.deliver = append(w.deliver, task)
	return nil
}

// tellOthers says that the task ended or came back. Who is to hear of it is looked up when the row is delivered, after
// the commit, so that an edge that crosses the end is not forgotten.
func (w *work) tellOthers() error {
	t := &w.task.row.Task
	return w.post(t.ID, w.derivedOp("ended", t.ID), fairlead.OutboxTaskEnded, nil)
}

// takeDeliveries applies what is addressed to the locked task, in order: nobody meets a task before its enter. A refusal
// is a final outcome of a row.
func (w *work) takeDeliveries() error {
	t := &w.task.row.Task
	if around, err := w.tx.Around(t.Workspace, t.ID, t.Visit); err != nil || !around.Outbox {
		return err
	}
	rows, err := w.tx.UndeliveredOutbox(t.ID)
	if err != nil || len(rows) == 0 {
		return err
	}
	caller := w.meta
	defer func() { w.meta = caller }()
	for _, row := range rows {
		w.meta = Meta{Workspace: row.Workspace, Actor: fairlead.Engine(), Op: row.Op}
		rejected := ""
		if err := w.take(row); err != nil {
			var refusal *fairlead.Error
			if !errors.As(err, &refusal) || refusal.Code == fairlead.CodeInternal || refusal.Code == fairlead.CodeUnavailable {
				return fmt.Errorf("deliver %s: %w", row.Kind, err)
			}
			rejected = refusal.Error()
		}
		if err := w.tx.OutboxDone(row.ID, rejected); err != nil {
			return err
		}
	}
	return w.flush()
}

// take applies one row.
func (w *work) take(row fairlead.Outbox) error {
	switch row.Kind {
	case fairlead.OutboxTaskEnded:
		return w.toldEnd()
	case fairlead.OutboxEnter:
		_, err := w.decide(engine.Trigger{Op: row.Op, Kind: fairlead.TriggerEnter})
		return err
	case fairlead.OutboxRecheck:
		t := engine.Trigger{Op: row.Op, Kind: engine.KindRecheck}
		if err := unmarshal(row.Payload, &t.Payload); err != nil {
			return err
		}
		_, err := w.decide(t)
		return err
	case fairlead.OutboxRemap:
		return w.takeRemap(row)
	case fairlead.OutboxBudget:
		return w.budgetReleased(row)
	}
	var t engine.Trigger
	if err := unmarshal(row.Payload, &t); err != nil {
		return err
	}
	t.Op = row.Op
	_, err := w.decide(t)
	return err
}

// toldEnd sends a recheck to everybody who waits for the locked task.
func (w *work) toldEnd() error {
	t := &w.task.row.Task
	if err := w.toldRoutine(); err != nil {
		return err
	}
	waiting, err := w.tx.BlockedBy(t.ID)
	if err != nil {
		return err
	}
	if t.Parent != "" {
		waiting = append(waiting, t.Parent)
	}
	for _, id := range waiting {
		if err := w.post(id, fairlead.DerivedOp("recheck", string(w.meta.Op), id), fairlead.OutboxRecheck, nil); err != nil {
			return err
		}
	}
	return nil
}

// takeRemap moves the task off a step that a save took away, unless it has left it since.
func (w *work) takeRemap(row fairlead.Outbox) error {
	var remap map[string]string
	if err := unmarshal(row.Payload, &remap); err != nil {
		return err
	}
	to, ok := remap[w.task.row.Step]
	if s, err := w.load(); err != nil || !ok || s.Newest.Step(w.task.row.Step) != nil {
		return err
	}
	_, err := w.decide(engine.Trigger{Op: row.Op, Kind: engine.KindMove, Move: &engine.Move{To: to, Reason: "remap"}})
	return err
}

// deliverTo applies what is addressed to a task in a transaction of its own. What fails stays for the sweep.
func (c *Control) deliverTo(ctx context.Context, workspace, task string) {
	queue := []string{task}
	for len(queue) > 0 {
		next, err := c.deliverOnce(ctx, workspace, queue[0])
		if err != nil {
			c.log.Error("deliver to task", "task", queue[0], "error", err)
			return
		}
		queue = append(queue[1:], next...)
	}
}

func (c *Control) deliverOnce(ctx context.Context, workspace, task string) (next []string, err error) {
	err = c.db.Write(ctx, func(tx *storeTx) error {
		w := &work{c: c, ctx: ctx, tx: tx, meta: Meta{Workspace: workspace, Actor: fairlead.Engine()}}
		if err := w.begin0(task); err != nil {
			return err
		}
		if err := w.lock(task); err != nil {
			return err
		}
		next = w.deliver
		return w.handOver()
	})
	return next, err
}

// begin0 gives a delivery its seed: derived from the task and the time, for it has no operation row of its own. Its
// rows' place in the outbox makes it exactly once.
func (w *work) begin0(task string) error {
	seed, err := w.c.newSeed()
	w.seed = seed
	if err != nil {
		return fmt.Errorf("deliver to %s: %w", task, err)
	}
	return nil
}

// DeliverOutbox applies everything that is still undelivered: the sweep after a crash or a failed delivery.
func (c *Control) DeliverOutbox(ctx context.Context) error {
	var waiting []store.OutboxTask
	err := c.db.Read(ctx, func(tx *storeReadTx) (err error) {
		waiting, err = tx.OutboxTasks(1000)
		return err
	})
	if err != nil {
		return fmt.Errorf("read outbox: %w", err)
	}
	for _, t := range waiting {
		c.deliverTo(background(ctx), t.Workspace, t.Task)
	}
	return nil
}
