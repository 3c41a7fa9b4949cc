package control

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/store"
)

// work is one command inside its transaction. A use case reads and changes w.task and calls w's helpers; nothing is
// visible to anybody before the commit, and the whole function may run more than once.
type work struct {
	c     *Control
	ctx   context.Context
	tx    *store.Tx
	now   time.Time
	meta  Meta
	seed  fairlead.Seed
	ids   int // ordinals given out by control
	asks  int // calls of Decide, each with a seed of its own
	sends int // outbox rows, each with an operation of its own

	node fairlead.Node // that reports, locked
	task *taskWork     // the one existing task; nil for commands about something else

	// deliver collects tasks that got outbox rows: they are delivered right after the commit.
	deliver []string
}

// taskWork is the locked task with what the transaction has changed of it so far.
type taskWork struct {
	row     *store.TaskRow
	was     int64 // version when it was locked
	dirty   bool
	pending []fairlead.Record
	snap    *engine.Snapshot // nil = load before the next decision
	// assignments are those this command has made.
	assignments map[string]fairlead.Assignment
}

// controlIDs is where control's own ordinals start, far above those of a plan.
const controlIDs = 1 << 20

// id makes the next id of this command; the same command run again makes the same ids.
func (w *work) id(prefix string) string {
	w.ids++
	return fairlead.NewID(prefix, w.now, w.seed, controlIDs+w.ids)
}

// decideSeed is the seed of the next decision of this command.
func (w *work) decideSeed() fairlead.Seed {
	w.asks++
	sum := sha256.Sum256(fmt.Appendf(w.seed[:], "decision %d", w.asks))
	var s fairlead.Seed
	copy(s[:], sum[:])
	return s
}

// emit adds an event of this command.
func (w *work) emit(e fairlead.Event) {
	if e.Workspace == "" {
		e.Workspace = w.meta.Workspace
	}
	if e.Actor.Kind == "" {
		e.Actor = w.meta.Actor
	}
	e.At = w.now
	w.tx.Emit(e)
}

// record adds an entry to the task's journal and returns its number. data is marshalled to JSON; nil gives {}.
func (w *work) record(r fairlead.Record, data any) int64 {
	t := &w.task.row.Task
	t.RecordSeq++
	r.Task, r.Seq, r.Sem, r.At = t.ID, t.RecordSeq, fairlead.Sem, w.now
	if r.Actor.Kind == "" {
		r.Actor = w.meta.Actor
	}
	if r.Visit == 0 {
		r.Visit = t.Visit
	}
	r.Data = marshal(data)
	w.task.pending = append(w.task.pending, r)
	w.task.dirty = true
	return r.Seq
}

// marshal turns a value that is known to be plain data into JSON.
func marshal(v any) json.RawMessage {
	if v == nil {
		return json.RawMessage("{}")
	}
	b, err := json.Marshal(v)
	if err != nil {
		// Only values of our own types come here; a failure is a fault in this package.
		panic(fmt.Sprintf("control: marshal %T: %v", v, err))
	}
	return b
}

// lock locks the task that the command is about, delivers what is addressed to it, and makes it w.task.
func (w *work) lock(id string) error {
	row, err := w.tx.LockTask(id)
	if err != nil {
		return err
	}
	if row.Workspace != w.meta.Workspace {
		return noSuchTask()
	}
	w.now = w.tx.Now()
	w.task = &taskWork{row: row, was: row.Version}
	return w.takeDeliveries()
}

// flush writes what use cases only changed in memory.
func (w *work) flush() error {
	t := w.task
	if t == nil || !t.dirty {
		return nil
	}
	t.row.UpdatedAt = w.now
	if err := w.tx.AppendRecords(t.pending...); err != nil {
		return fmt.Errorf("append records: %w", err)
	}
	t.pending = nil
	if err := w.tx.SaveTask(t.row, t.was); err != nil {
		return fmt.Errorf("save task: %w", err)
	}
	t.was, t.dirty = t.row.Version, false
	return nil
}

func noSuchTask() error {
	return fairlead.Errorf(fairlead.CodeNotFound, "no such task").WithHint("list the tasks with: fairlead task list")
}

// command describes one write to do.
type command struct {
	name string // "move task": used in errors and the audit
	task string // id of the existing task it locks; "" = none
	run  string // id of the run an agent acts by, for the audit
	// edges says that the command may add an edge of the task graph: it takes the workspace's lock first.
	edges bool
	// ahead is what the command will read first, if it locks no task by itself.
	ahead []store.Need
	body  any // what the fingerprint is made of when the caller gave none
}

// needs is what the command reads first, behind its operation.
func (c *command) needs() []store.Need {
	switch {
	case c.edges: // locks the workspace first
		return nil
	case c.task != "":
		return []store.Need{store.NeedTask(c.task), store.NeedAround(c.task)}
	}
	return c.ahead
}

// do carries out one command: operation row, fn, result, in one transaction; then what it caused elsewhere. fn may run
// more than once and must keep everything it learns in w or its result.
func do[R any](ctx context.Context, c *Control, m Meta, cmd command, fn func(w *work) (R, error)) (R, error) {
	var result R
	var pending []string
	m, err := c.edge(m, cmd)
	if err != nil {
		return result, err
	}
	ctx, end := c.span(ctx, m, &cmd)
	defer func() { end(err) }()
	err = c.db.Write(ctx, func(tx *store.Tx) error {
		var zero R
		result, pending = zero, nil
		w := &work{c: c, ctx: ctx, tx: tx, meta: m}
		tx.Ahead(cmd.needs()...)
		replayed, err := w.begin(&result)
		if err != nil || replayed {
			return err
		}
		if cmd.edges {
			if err := tx.LockWorkspace(m.Workspace); err != nil {
				return err
			}
		}
		if cmd.task != "" {
			if err := w.lock(cmd.task); err != nil {
				return err
			}
		}
		w.now = tx.Now()
		if result, err = fn(w); err != nil {
			return err
		}
		if err := w.flush(); err != nil {
			return err
		}
		pending = w.deliver
		if err := w.handOver(); err != nil {
			return err
		}
		return tx.PutResult(m.Workspace, m.Actor.OpScope(), m.Op, 0, marshal(result))
	})
	if err != nil {
		var zero R
		err = c.refused(ctx, m, cmd, err)
		return zero, err
	}
	for _, task := range pending {
		c.deliverTo(background(ctx), m.Workspace, task)
	}
	return result, nil
}

// begin writes the operation row, or reads the result of the first time.
func (w *work) begin(result any) (replayed bool, err error) {
	if _, err := w.c.random.Read(w.seed[:]); err != nil {
		return false, fmt.Errorf("read seed: %w", err)
	}
	prev, err := w.tx.Op(w.meta.Workspace, w.meta.Actor.OpScope(), w.meta.Op, w.meta.Fingerprint, w.seed)
	if err != nil || prev == nil {
		return false, err
	}
	if prev.Fingerprint != w.meta.Fingerprint {
		return false, fairlead.Errorf(fairlead.CodeOpReused, "this operation id was used for another command").
			WithHint("use a new operation id for a new command; send the same body to repeat one")
	}
	if err := json.Unmarshal(prev.Result, result); err != nil {
		return false, fmt.Errorf("read result of operation: %w", err)
	}
	return true, nil
}

// edge completes what the caller left out, before the first try.
func (c *Control) edge(m Meta, cmd command) (Meta, error) {
	if m.Workspace == "" {
		return m, fairlead.Errorf(fairlead.CodeInvalid, "no workspace named").WithOp(cmd.name)
	}
	if len(m.Op) > 200 {
		return m, fairlead.Errorf(fairlead.CodeInvalid, "the operation id is too long").WithOp(cmd.name).WithHint("use at most 200 characters")
	}
	if m.Op == "" {
		op, err := c.newSeed()
		if err != nil {
			return m, err
		}
		m.Op = fairlead.OpID("op_" + hex.EncodeToString(op[:]))
	}
	if m.Fingerprint == "" {
		sum := sha256.Sum256(append([]byte(cmd.name+"\x00"+cmd.task+"\x00"), marshal(cmd.body)...))
		m.Fingerprint = hex.EncodeToString(sum[:])
	}
	return m, nil
}

func (c *Control) newSeed() (s fairlead.Seed, err error) {
	if _, err := c.random.Read(s[:]); err != nil {
		return s, fmt.Errorf("read seed: %w", err)
	}
	return s, nil
}

// refused writes the one audit record of a refusal, in a transaction of its own, before the answer leaves. Errors that
// are no refusals (the database is away, say) pass unrecorded.
func (c *Control) refused(ctx context.Context, m Meta, cmd command, err error) error {
	var e *fairlead.Error
	if !errors.As(err, &e) {
		return fmt.Errorf("%s: %w", cmd.name, err)
	}
	if e.Code == fairlead.CodeUnavailable || e.Code == fairlead.CodeInternal {
		return e.WithOp(cmd.name)
	}
	seed, seedErr := c.newSeed()
	if seedErr != nil {
		return errors.Join(e.WithOp(cmd.name), seedErr)
	}
	a := fairlead.Audit{
		ID: fairlead.NewID(fairlead.PrefixAudit, c.db.Now(), seed, 0), Workspace: m.Workspace, Actor: m.Actor, Op: m.Op, Command: cmd.name, Task: cmd.task, Run: cmd.run,
		Code: e.Code, Message: e.Message,
	}
	if auditErr := c.db.Audit(background(ctx), a); auditErr != nil {
		c.log.Error("audit a refusal", "command", cmd.name, "error", auditErr)
	}
	return e.WithOp(cmd.name)
}
