package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// fill makes n queued runs in the shape, straight in the database, the last ones of them free where the shape holds the
// others.
func (q *queue) fill(ctx context.Context, sh shape, n, free int) error {
	var blocker string
	if sh.behind == behindBlocker {
		ids, err := q.add(ctx, 1, 1, "idle")
		if err != nil {
			return err
		}
		blocker = ids[0]
	}
	models := map[int]*queued{}
	of := func(i int) (agent int, held bool) {
		switch {
		case sh.behind != "" && i >= n-free:
			return q.agents - 1, false
		case sh.one:
			return 0, sh.behind != ""
		}
		return i % q.agents, false
	}
	for made := 0; made < n; made += fillChunk {
		for i := made; i < min(made+fillChunk, n); i++ {
			agent, _ := of(i)
			if models[agent] != nil {
				continue
			}
			m, err := q.learn(ctx, agent)
			if err != nil {
				return fmt.Errorf("learn a queued run: %w", err)
			}
			models[agent] = m
		}
		err := q.db.Write(ctx, func(tx *store.Tx) error {
			for i := made; i < min(made+fillChunk, n); i++ {
				agent, held := of(i)
				task, err := models[agent].copy(tx, i)
				if err == nil && held && blocker != "" {
					_, err = tx.InsertBlocker(fairlead.Blocker{Task: task, BlockedBy: blocker, By: fairlead.Engine(), At: tx.Now()})
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("fill queue: %w", err)
		}
	}
	if sh.behind == behindPause {
		_, err := q.control.PauseAgent(ctx, benchOwner, "hand0", fairlead.PauseBody{Reason: "measured"})
		return err
	}
	return nil
}

// queued is every row of a task whose first run waits, as the engine made them.
type queued struct {
	task       store.TaskRow
	visit      fairlead.Visit
	assignment fairlead.Assignment
	session    fairlead.Session
	run        fairlead.Run
	wakes      []fairlead.Wake
	records    []fairlead.Record
}

// learn lets the engine make one, reads it, and stops the run: only copies are claimed.
func (q *queue) learn(ctx context.Context, agent int) (*queued, error) {
	// Not a person's: what people cause passes blockers.
	made, err := q.control.CreateTask(ctx, benchClient, fairlead.NewTask{Title: "Model", Workflow: fmt.Sprint("queue", agent), Step: "work"})
	if err != nil {
		return nil, err
	}
	m := &queued{}
	err = q.db.Read(ctx, func(tx *store.ReadTx) error {
		row, err := tx.LoadTask(made.ID)
		if err != nil {
			return err
		}
		m.task = *row
		if m.visit, err = tx.LoadVisit(row.ID, row.Visit); err != nil {
			return err
		}
		runs, err := tx.ActiveRuns(row.ID)
		if err != nil || len(runs) != 1 {
			return errors.Join(err, fmt.Errorf("%d runs were queued", len(runs)))
		}
		m.run = runs[0]
		var errs [4]error
		m.assignment, errs[0] = tx.LoadAssignment(m.run.Assignment)
		m.session, errs[1] = tx.LoadSession(m.run.Session)
		m.wakes, errs[2] = tx.ListWakes(m.run.ID)
		m.records, errs[3] = tx.ListRecords(row.ID, 0, 100)
		return errors.Join(errs[:]...)
	})
	if err != nil {
		return nil, err
	}
	_, err = q.control.CancelRun(ctx, benchOwner, m.run.ID, fairlead.OpBody{})
	return m, err
}

// copy makes the i-th one and returns its task.
func (m *queued) copy(tx *store.Tx, i int) (task string, err error) {
	at := tx.Now().Add(time.Duration(i) * time.Microsecond)
	id := func(prefix string) string { return fairlead.NewID(prefix, at, fairlead.Seed{4}, i) }
	t, a, s, r := m.task, m.assignment, m.session, m.run
	t.ID, t.Number, t.Identifier, t.Version = id(fairlead.PrefixTask), int64(1_000_000+i), fmt.Sprint("X-", i), 1
	a.ID, s.ID, r.ID = id(fairlead.PrefixAssignment), id(fairlead.PrefixSession), id(fairlead.PrefixRun)
	a.Task, s.Task, r.Task, a.Session, r.Session, r.Assignment = t.ID, t.ID, t.ID, s.ID, s.ID, a.ID
	r.RequestedAt, r.DueAt, r.Version = at, at, 1
	v := m.visit
	v.Task = t.ID
	if err := errors.Join(tx.InsertTask(&t), tx.InsertVisit(v)); err != nil {
		return "", err
	}
	if _, err := tx.EnsureSession(s); err != nil {
		return "", err
	}
	if err := errors.Join(tx.InsertAssignment(a), tx.InsertRun(&r)); err != nil {
		return "", err
	}
	for _, w := range m.wakes {
		w.Task, w.Run, w.Assignment = t.ID, r.ID, a.ID
		if err := tx.InsertWake(&w); err != nil {
			return "", err
		}
	}
	var records []fairlead.Record
	for _, rec := range m.records {
		rec.Task, rec.Run = t.ID, ""
		if rec.Assignment != "" {
			rec.Assignment, rec.Run = a.ID, r.ID
		}
		records = append(records, rec)
	}
	return t.ID, tx.AppendRecords(records...)
}
