package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// prepared are the arguments of one move's statements.
type prepared [][]any

// plan makes the arguments of the next move of a task: the rows of the model, with this task's ids and numbers.
func (b *baseline) plan(p *taskPlace) prepared {
	now := time.Now().UTC()
	was := b.modelPlace()
	run, assignment := b.id(fairlead.PrefixRun, now), b.id(fairlead.PrefixAssignment, now)
	ids := strings.NewReplacer(was.task, p.id, was.oldRun, p.run, was.newRun, run, was.oldAssignment, p.assignment,
		was.newAssignment, assignment, was.session, p.session, was.op, b.id("op", now))
	visits, seqs := p.visit+1-was.visit, p.seq+was.records-was.seq
	var out prepared
	for i := range b.model {
		w := &b.model[i]
		sub := func(column string, v any) any {
			switch v := v.(type) {
			case string:
				return ids.Replace(v)
			case int64:
				return number(w.table, column, v, visits, seqs)
			}
			return v
		}
		out = append(out, w.arguments(sub, int64(b.moves)*int64(len(w.insert)))...)
	}
	b.moves++
	p.run, p.assignment, p.visit, p.seq = run, assignment, p.visit+1, p.seq+was.records
	return out
}

// number shifts a number of the model to the task's own.
func number(table, column string, v, visits, seqs int64) int64 {
	switch {
	case column == "visit" || column == "n" || column == "person_visit":
		return v + visits
	case column == "record_seq" || column == "seq" && (table == "records" || table == "wakes"):
		return v + seqs
	}
	return v
}

// arguments are the values of the table's statements. moved is how far the event log has moved on.
func (w *writes) arguments(sub func(column string, v any) any, moved int64) (out prepared) {
	for _, c := range w.update {
		var args []any
		for i, name := range c.columns {
			args = append(args, sub(name, c.values[i]))
		}
		for i, name := range w.key {
			args = append(args, sub(name, c.key[i]))
		}
		out = append(out, args)
	}
	var args []any
	for _, values := range w.insert {
		columns := w.inserted()
		for i, v := range values[len(w.columns)-len(columns):] {
			if w.table == "events" && columns[i] == "position" {
				v = v.(int64) + positionsAhead + moved
			}
			args = append(args, sub(columns[i], v))
		}
	}
	if args != nil {
		out = append(out, args)
	}
	return out
}

// positionsAhead is above every event that is in the database already.
const positionsAhead = 1_000_000

// modelIDs are the ids and numbers of the model's own task.
type modelIDs struct {
	task, oldRun, newRun, oldAssignment, newAssignment, session, op string
	visit, seq, records                                             int64
}

func (b *baseline) modelPlace() (m modelIDs) {
	for _, w := range b.model {
		first := func(column string) string {
			s, _ := row{w.columns, w.insert[0]}.get(column).(string)
			return s
		}
		switch w.table {
		case "tasks":
			c := row{w.update[0].columns, w.update[0].values}
			m.task, _ = w.update[0].key[0].(string)
			m.visit, _ = c.get("visit").(int64)
			m.seq, _ = c.get("record_seq").(int64)
		case "runs":
			m.oldRun, _ = w.update[0].key[0].(string)
			m.newRun, m.session = first("id"), first("session")
		case "assignments":
			m.oldAssignment, _ = w.update[0].key[0].(string)
			m.newAssignment = first("id")
		case "operations":
			m.op = first("id")
		case "records":
			m.records = int64(len(w.insert))
		}
	}
	return m
}

// raw is one move on its way through the baseline's group commit.
type raw struct {
	args prepared
	done chan error
}

// measure replays count moves by c callers. Their arguments are made before the clock starts.
func (b *baseline) measure(ctx context.Context, c, count int) (Load, error) {
	plans := make([][]prepared, c)
	for i := range count {
		caller := i % c
		own := max(len(b.tasks)/c, 1)
		plans[caller] = append(plans[caller], b.plan(b.tasks[(caller*own+i/c%own)%len(b.tasks)]))
	}
	in := make(chan *raw)
	ended := make(chan error, 1)
	go func() { ended <- b.group(ctx, in) }()
	took := make([][]time.Duration, c)
	var all sync.WaitGroup
	begin := time.Now()
	for caller := range c {
		all.Go(func() {
			m := &raw{done: make(chan error, 1)}
			for _, args := range plans[caller] {
				at := time.Now()
				m.args = args
				in <- m
				if <-m.done != nil {
					return // the group says why
				}
				took[caller] = append(took[caller], time.Since(at))
			}
		})
	}
	all.Wait()
	elapsed := time.Since(begin)
	close(in)
	if err := <-ended; err != nil {
		return Load{}, err
	}
	var flat []time.Duration
	for _, t := range took {
		flat = append(flat, t...)
	}
	return loadOf(flat, elapsed), nil
}

// groupMost is how many moves share a commit at most; the store's default.
const groupMost = 64

// group commits whoever waits together, until in is closed. After an error it only drains.
func (b *baseline) group(ctx context.Context, in chan *raw) error {
	var failed error
	for first := range in {
		if failed != nil {
			first.done <- failed
			continue
		}
		members := []*raw{first}
		failed = b.batch(ctx, in, &members)
		for _, m := range members {
			m.done <- failed
		}
	}
	return failed
}

func (b *baseline) batch(ctx context.Context, in chan *raw, members *[]*raw) error {
	if _, err := b.begin.ExecContext(ctx); err != nil {
		return err
	}
	for i := 0; i < len(*members); i++ {
		if err := b.write(ctx, (*members)[i].args); err != nil {
			_, undo := b.conn.ExecContext(ctx, "ROLLBACK")
			return errors.Join(err, undo)
		}
		if len(*members) < groupMost {
			select {
			case m := <-in:
				if m != nil {
					*members = append(*members, m)
				}
			default:
			}
		}
	}
	_, err := b.commit.ExecContext(ctx)
	return err
}

func (b *baseline) write(ctx context.Context, p prepared) error {
	if _, err := b.savepoint.ExecContext(ctx); err != nil {
		return err
	}
	for i, args := range p {
		if _, err := b.stmts[i].ExecContext(ctx, args...); err != nil {
			return fmt.Errorf("%s: %w", b.texts[i], err)
		}
	}
	_, err := b.release.ExecContext(ctx)
	return err
}
