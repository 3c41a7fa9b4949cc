package read

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// Journal lists the records of a task and its assignments behind a number, oldest first. NextCursor is the number of
// the last one if there are more: the next page's after.
func (r *Reader) Journal(ctx context.Context, ws, ref string, after int64, most int) (fairlead.Page[fairlead.RecordView], error) {
	return ask(ctx, r, "read journal", func(tx *store.ReadTx) (fairlead.Page[fairlead.RecordView], error) {
		row, err := r.task(tx, ws, ref)
		if err != nil {
			return fairlead.Page[fairlead.RecordView]{}, err
		}
		n := limit(most)
		records, err := tx.ListRecords(row.ID, after, n+1)
		return numbered(records, n, func(rec fairlead.Record) (fairlead.RecordView, int64, int) {
			return recordView(rec), rec.Seq, 250 + len(rec.Data)
		}), err
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

// Comments lists the comments of a task, oldest first: their first page.
func (r *Reader) Comments(ctx context.Context, ws, ref string) (fairlead.Page[fairlead.CommentView], error) {
	return r.CommentsAfter(ctx, ws, ref, 0, MaxLimit)
}

// CommentsAfter lists the comments behind a number of the journal, oldest first. NextCursor is the number of the last
// one if there are more: the next page's after.
func (r *Reader) CommentsAfter(ctx context.Context, ws, ref string, after int64, most int) (fairlead.Page[fairlead.CommentView], error) {
	return ask(ctx, r, "list comments", func(tx *store.ReadTx) (fairlead.Page[fairlead.CommentView], error) {
		row, err := r.task(tx, ws, ref)
		if err != nil {
			return fairlead.Page[fairlead.CommentView]{}, err
		}
		n := limit(most)
		comments, err := tx.ListComments(row.ID, after, n+1)
		return numbered(comments, n, func(c fairlead.Comment) (fairlead.CommentView, int64, int) {
			v := fairlead.CommentView{ID: c.ID, Task: c.Task, Author: c.Author, Text: c.Text, Seq: c.Seq, At: fairlead.StampOf(c.At)}
			return v, c.Seq, 250 + len(c.Text)
		}), err
	})
}
