package read

import (
	"context"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// GetRequest shows a request.
func (r *Reader) GetRequest(ctx context.Context, ws, id string) (fairlead.RequestView, error) {
	return ask(ctx, r, "show request", func(tx *store.ReadTx) (fairlead.RequestView, error) {
		q, err := Request(tx, ws, id)
		if err != nil {
			return fairlead.RequestView{}, err
		}
		return RequestView(tx, q)
	})
}

// Request finds a request of a workspace.
func Request(tx *store.ReadTx, ws, id string) (fairlead.Request, error) {
	q, err := tx.LoadRequest(id)
	if fairlead.IsCode(err, fairlead.CodeNotFound) || err == nil && q.Workspace != ws {
		return q, fairlead.Errorf(fairlead.CodeNotFound, "no such request").WithHint("list the open requests with: fairlead inbox")
	}
	return q, err
}

// RequestView shows a request as it stands in the caller's transaction.
func RequestView(tx *store.ReadTx, q fairlead.Request) (fairlead.RequestView, error) {
	v := fairlead.RequestView{
		ID: q.ID, Workspace: q.Workspace, Kind: q.Kind, Task: q.Task, Visit: q.Visit, Round: q.Round, Assignment: q.Assignment,
		Run: q.Run, Prompt: q.Prompt, Schema: q.Schema, Options: q.Options, Payload: q.Payload, Blocks: q.Blocks, WhoMay: q.WhoMay,
		AskedOf: q.AskedOf, OpenedBy: q.OpenedBy, State: q.State, Answer: q.Answer, ResolvedBy: q.ResolvedBy,
		OpenedAt: fairlead.StampOf(q.OpenedAt), ResolvedAt: fairlead.StampPtr(q.ResolvedAt), Version: q.Version,
	}
	if q.Task == "" {
		return v, nil
	}
	row, err := tx.LoadTask(q.Task)
	if err != nil {
		return v, err
	}
	v.Identifier, v.TaskTitle = row.Identifier, row.Title
	return v, nil
}

// ListRequests lists requests, newest first. State "" means open, "all" every state.
func (r *Reader) ListRequests(ctx context.Context, ws string, q RequestQuery) (fairlead.Page[fairlead.RequestView], error) {
	return ask(ctx, r, "list requests", func(tx *store.ReadTx) (fairlead.Page[fairlead.RequestView], error) {
		f, err := r.requestFilter(tx, ws, q)
		if err != nil {
			return fairlead.Page[fairlead.RequestView]{}, err
		}
		return requests(tx, f, store.Page{Limit: q.Limit, Cursor: q.Cursor})
	})
}

func requests(tx *store.ReadTx, f store.RequestFilter, p store.Page) (fairlead.Page[fairlead.RequestView], error) {
	return listing[fairlead.Request, fairlead.RequestView]{
		limit: p.Limit, cursor: p.Cursor, size: requestSize,
		fetch: func(p store.Page) ([]fairlead.Request, string, error) { return tx.ListRequests(f, p) },
		show: func(q *fairlead.Request) (fairlead.RequestView, bool, error) {
			v, err := RequestView(tx, *q)
			return v, err == nil, err
		},
	}.page()
}

func (r *Reader) requestFilter(tx *store.ReadTx, ws string, q RequestQuery) (store.RequestFilter, error) {
	f := store.RequestFilter{Workspace: ws, State: q.State, Kind: q.Kind}
	if err := CheckWorkspace(tx, ws); err != nil {
		return f, err
	}
	switch fairlead.RequestState(q.State) {
	case "":
		f.State = string(fairlead.RequestOpen)
	case "all":
		f.State = ""
	case fairlead.RequestOpen, fairlead.RequestAnswered, fairlead.RequestDeclined, fairlead.RequestExpired, fairlead.RequestWithdrawn,
		fairlead.RequestSuperseded, fairlead.RequestUndelivered:
	default:
		return f, fairlead.Errorf(fairlead.CodeInvalid, "no such state of a request").
			WithHint("use open, answered, declined, expired, withdrawn, superseded, undelivered or all")
	}
	if q.Person != "" {
		f.Actor = fairlead.Person(q.Person).String()
	}
	if q.Task != "" {
		row, err := r.task(tx, ws, q.Task)
		if err != nil {
			return f, err
		}
		f.Task = row.ID
	}
	return f, nil
}

func requestSize(v *fairlead.RequestView) int {
	n := 900 + len(v.Prompt) + len(v.Schema) + weigh(v.Payload)
	for _, o := range v.Options {
		n += 60 + len(o.Label)
	}
	if v.Answer != nil {
		n += len(v.Answer.Text) + len(v.Answer.Values) + len(v.Answer.Note)
	}
	return n
}

// Inbox shows what waits for a person ("" = for anybody): the newest open requests that the person may resolve, and the
// newest notices. Longer lists have pages of their own (ListRequests).
func (r *Reader) Inbox(ctx context.Context, ws, person string) (fairlead.Inbox, error) {
	return ask(ctx, r, "show inbox", func(tx *store.ReadTx) (fairlead.Inbox, error) {
		in := fairlead.Inbox{Requests: []fairlead.RequestView{}, Notices: []fairlead.NoticeView{}}
		f, err := r.requestFilter(tx, ws, RequestQuery{Person: person})
		if err != nil {
			return in, err
		}
		open, err := requests(tx, f, store.Page{Limit: MaxLimit})
		if err != nil {
			return in, err
		}
		in.Requests = open.Items
		notices, _, err := tx.ListNotices(ws, true, store.Page{Limit: DefaultLimit})
		if err != nil {
			return in, err
		}
		for _, n := range notices {
			v, err := noticeView(tx, n)
			if err != nil {
				return in, err
			}
			in.Notices = append(in.Notices, v)
		}
		return in, nil
	})
}

func noticeView(tx *store.ReadTx, n fairlead.Notice) (fairlead.NoticeView, error) {
	v := fairlead.NoticeView{ID: n.ID, Task: n.Task, Kind: n.Kind, Text: n.Text, Data: n.Data, At: fairlead.StampOf(n.At)}
	if n.Task == "" {
		return v, nil
	}
	row, err := tx.LoadTask(n.Task)
	if err != nil {
		return v, err
	}
	v.Identifier = row.Identifier
	return v, nil
}
