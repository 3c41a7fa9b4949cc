package read

import (
	"context"
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// Journal lists the records of a task and its assignments behind a number, oldest first. NextCursor is the number of
// the last one if there may be more: the next page's after.
func (r *Reader) Journal(ctx context.Context, ws, ref string, after int64, most int) (fairlead.Page[fairlead.RecordView], error) {
	return ask(ctx, r, "read journal", func(tx *store.ReadTx) (fairlead.Page[fairlead.RecordView], error) {
		p := fairlead.Page[fairlead.RecordView]{Items: []fairlead.RecordView{}}
		row, err := r.task(tx, ws, ref)
		if err != nil {
			return p, err
		}
		records, err := tx.ListRecords(row.ID, after, limit(most))
		bytes := 0
		for i, rec := range records {
			p.Items = append(p.Items, recordView(rec))
			if bytes += 250 + len(rec.Data); bytes >= pageBytes && i < len(records)-1 {
				break
			}
		}
		if n := len(p.Items); n > 0 && p.Items[n-1].Seq < row.RecordSeq {
			p.NextCursor = strconv.FormatInt(p.Items[n-1].Seq, 10)
		}
		return p, err
	})
}

func recordView(rec fairlead.Record) fairlead.RecordView {
	return fairlead.RecordView{
		Seq: rec.Seq, Kind: rec.Kind, Assignment: rec.Assignment, Visit: rec.Visit, Run: rec.Run, Actor: rec.Actor, Data: rec.Data,
		At: fairlead.StampOf(rec.At),
	}
}

// Transitions lists a task's visits, oldest first.
func (r *Reader) Transitions(ctx context.Context, ws, ref string) (fairlead.Page[fairlead.TransitionView], error) {
	return ask(ctx, r, "list transitions", func(tx *store.ReadTx) (fairlead.Page[fairlead.TransitionView], error) {
		p := fairlead.Page[fairlead.TransitionView]{Items: []fairlead.TransitionView{}}
		row, err := r.task(tx, ws, ref)
		if err != nil {
			return p, err
		}
		visits, err := tx.ListVisits(row.ID)
		for _, v := range visits {
			p.Items = append(p.Items, fairlead.TransitionView{
				Visit: v.N, Workflow: v.Workflow, WorkflowVersion: v.WorkflowVersion, From: v.From, To: v.Step, By: v.By,
				Reason: v.Reason, Note: v.Note, BeganAt: fairlead.StampOf(v.BeganAt), EndedAt: fairlead.StampPtr(v.EndedAt),
			})
		}
		return p, err
	})
}

// Sessions lists the conversations about a task, oldest first.
func (r *Reader) Sessions(ctx context.Context, ws, ref string) (fairlead.Page[fairlead.SessionView], error) {
	return ask(ctx, r, "list sessions", func(tx *store.ReadTx) (fairlead.Page[fairlead.SessionView], error) {
		p := fairlead.Page[fairlead.SessionView]{Items: []fairlead.SessionView{}}
		row, err := r.task(tx, ws, ref)
		if err != nil {
			return p, err
		}
		sessions, err := tx.ListSessions(row.ID)
		for _, s := range sessions {
			p.Items = append(p.Items, fairlead.SessionView{
				ID: s.ID, Agent: s.Agent, Capacity: s.Capacity, State: s.State, DeliveredSeq: s.Delivered, InFlightSeq: s.InFlight,
				CurrentExecution: s.Execution, Turns: s.Turns, CreatedAt: fairlead.StampOf(s.CreatedAt),
			})
		}
		return p, err
	})
}

// Comments lists the comments of a task, oldest first; the journal pages through longer discussions.
func (r *Reader) Comments(ctx context.Context, ws, ref string) (fairlead.Page[fairlead.CommentView], error) {
	return ask(ctx, r, "list comments", func(tx *store.ReadTx) (fairlead.Page[fairlead.CommentView], error) {
		p := fairlead.Page[fairlead.CommentView]{Items: []fairlead.CommentView{}}
		row, err := r.task(tx, ws, ref)
		if err != nil {
			return p, err
		}
		comments, err := tx.ListComments(row.ID, 0, 1000)
		for _, c := range comments {
			p.Items = append(p.Items, fairlead.CommentView{
				ID: c.ID, Task: c.Task, Author: c.Author, Text: c.Text, Seq: c.Seq, At: fairlead.StampOf(c.At),
			})
		}
		return p, err
	})
}
