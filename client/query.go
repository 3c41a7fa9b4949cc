package client

import (
	"context"
	"iter"
	"net/url"
	"strconv"

	"github.com/fairlead/fairlead"
)

// Page bounds a list; the zero value is the first 50.
type Page struct {
	Limit  int
	Cursor string
}

// TaskQuery filters tasks; empty fields do not filter.
type TaskQuery struct {
	Workflow, Step, State, Label, Q, Parent string
	Archived, Ephemeral                     bool
	Page
}

// RunQuery filters runs.
type RunQuery struct {
	Task, Agent, Status, Step string
	Page
}

// RequestQuery filters requests; State "" = open.
type RequestQuery struct {
	State, Task, Kind, Person string
	Page
}

func (q TaskQuery) values() url.Values {
	v := q.Page.values("workflow", q.Workflow, "step", q.Step, "state", q.State, "label", q.Label, "q", q.Q, "parent", q.Parent)
	if q.Archived {
		v.Set("archived", "true")
	}
	if q.Ephemeral {
		v.Set("ephemeral", "true")
	}
	return v
}

func (q RunQuery) values() url.Values {
	return q.Page.values("task", q.Task, "agent", q.Agent, "status", q.Status, "step", q.Step)
}

func (q RequestQuery) values() url.Values {
	return q.Page.values("state", q.State, "task", q.Task, "kind", q.Kind, "person", q.Person)
}

// values makes a query of the page and of pairs, without those that are empty.
func (p Page) values(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			v.Set(pairs[i], pairs[i+1])
		}
	}
	if p.Limit != 0 {
		v.Set("limit", strconv.Itoa(p.Limit))
	}
	if p.Cursor != "" {
		v.Set("cursor", p.Cursor)
	}
	return v
}

// Each walks all pages of a list. next asks for the page behind a cursor, "" for the first. An error ends the walk.
func Each[T any](ctx context.Context, next func(ctx context.Context, cursor string) (fairlead.Page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor := ""
		for {
			p, err := next(ctx, cursor)
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, item := range p.Items {
				if !yield(item, nil) {
					return
				}
			}
			if p.NextCursor == "" {
				return
			}
			cursor = p.NextCursor
		}
	}
}
