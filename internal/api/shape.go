package api

import "github.com/fairlead/fairlead"

// Shapes of requests and answers that many routes share.

// ID is the id, or for tasks the identifier, in a path.
type ID struct {
	ID string `path:"id" pattern:"^[A-Za-z0-9_-]+$" patternDescription:"letters, digits, - and _" maxLength:"80" doc:"Id; for tasks also the identifier, FL-123."`
}

// Key is a name in a path.
type Key struct {
	Key string `path:"key" pattern:"^[a-z][a-z0-9_-]*$" patternDescription:"a lower-case letter, then a-z, 0-9, - and _" maxLength:"63"`
}

// Paging bounds a list.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string `query:"cursor" maxLength:"500" doc:"next_cursor of the page before."`
}

// inScope is a question about a workspace.
type inScope struct{ Scope }

// byID and byKey are questions about one object.
type (
	byID struct {
		Scope
		ID
	}
	byKey struct {
		Scope
		Key
	}
)

// create is a write with a body and without an object, onID and onKey are writes on one.
type (
	create[B any] struct {
		Write
		Body B
	}
	onID[B any] struct {
		Write
		ID
		Body B
	}
	onKey[B any] struct {
		Write
		Key
		Body B
	}
)

// object is the answer of a route that shows one thing; a version makes its ETag.
type object[T any] struct {
	Status int
	ETag   string `header:"ETag" doc:"The version, for If-Match."`
	Body   T
}

// list is the answer of a route that shows many.
type list[T any] struct {
	Body fairlead.Page[T]
}

// one answers with an object that has a version.
func one[T any](status int, version int64, v T, err error) (*object[T], error) {
	if err != nil {
		return nil, err
	}
	return &object[T]{Status: status, ETag: etag(version), Body: v}, nil
}

// bare answers with an object that has none.
func bare[T any](status int, v T, err error) (*object[T], error) {
	if err != nil {
		return nil, err
	}
	return &object[T]{Status: status, Body: v}, nil
}

func page[T any](p fairlead.Page[T], err error) (*list[T], error) {
	if err != nil {
		return nil, err
	}
	if p.Items == nil {
		p.Items = []T{}
	}
	return &list[T]{Body: p}, nil
}

// all answers with a list that has one page only.
func all[T any](items []T, err error) (*list[T], error) {
	return page(fairlead.Page[T]{Items: items}, err)
}

func task(status int, v fairlead.TaskView, err error) (*object[fairlead.TaskView], error) {
	return one(status, v.Version, v, err)
}

func run(v fairlead.RunView, err error) (*object[fairlead.RunView], error) {
	return one(200, v.Version, v, err)
}

// outcome answers a move, trigger or dry run; its lists are never null.
func outcome(v fairlead.Outcome, err error) (*object[fairlead.Outcome], error) {
	if v.Effects == nil {
		v.Effects = []fairlead.EffectView{}
	}
	if v.Explanation == nil {
		v.Explanation = []fairlead.ExplanationView{}
	}
	if v.Task == nil {
		return bare(200, v, err)
	}
	return one(200, v.Task.Version, v, err)
}

// opOf is the operation id of a body that may be missing.
func opOf(b *fairlead.OpBody) fairlead.OpBody {
	if b == nil {
		return fairlead.OpBody{}
	}
	return *b
}
