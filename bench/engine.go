package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
	"github.com/fairlead/fairlead/internal/dispatch/local"
	"github.com/fairlead/fairlead/internal/store"
)

// engine is control on a database of its own, without HTTP.
type engine struct {
	path    string
	db      *store.DB
	control *control.Control
	tasks   []string
	made    map[int]int // moves of each caller, over all its measurements
}

var benchOwner = control.Meta{Workspace: "main", Actor: fairlead.Person("owner")}

// benchClient is a program: nothing that it causes is a person's.
var benchClient = control.Meta{Workspace: "main", Actor: fairlead.Actor{Kind: fairlead.ActorClient, Key: "bench"}}

// openEngine makes a database in dir with the workflow of the moves and n tasks at its step build.
func openEngine(ctx context.Context, dir string, n int) (*engine, error) {
	e := &engine{path: filepath.Join(dir, "fairlead.db"), made: map[int]int{}}
	var err error
	if e.db, err = store.Open(ctx, e.path, nil); err != nil {
		return nil, err
	}
	e.control = control.New(control.Deps{DB: e.db, Dispatch: local.New(e.db, nil)}, nil)
	if err := e.furnish(ctx, n); err != nil {
		return nil, fmt.Errorf("furnish engine: %w", joinClose(err, e.db))
	}
	return e, nil
}

func (e *engine) furnish(ctx context.Context, n int) error {
	if err := e.control.Setup(ctx, control.SetupOptions{OwnerToken: "flt_bench", Home: "bench"}); err != nil {
		return err
	}
	if _, err := e.control.ApplyAgent(ctx, benchOwner, fairlead.AgentBody{Source: heldAgent}); err != nil {
		return err
	}
	if _, err := e.control.PauseAgent(ctx, benchOwner, "bench-held", fairlead.PauseBody{Reason: "measured"}); err != nil {
		return err
	}
	if _, err := e.control.SaveWorkflow(ctx, benchOwner, fairlead.WorkflowBody{Source: benchFlow}); err != nil {
		return err
	}
	for i := range n {
		t, err := e.control.CreateTask(ctx, benchOwner, fairlead.NewTask{Title: fmt.Sprint("Task ", i), Workflow: "bench", Step: "build"})
		if err != nil {
			return err
		}
		e.tasks = append(e.tasks, t.ID)
	}
	return nil
}

// move moves the caller's next task to its other working step.
func (e *engine) move(ctx context.Context, callers, caller, n int) error {
	task, step := turnOf(e.tasks, callers, caller, n)
	_, err := e.control.Move(ctx, benchOwner, task, fairlead.MoveBody{Step: step})
	return err
}

// turnOf gives each caller tasks of its own, one after the other, and alternates their steps. Every task stands at
// build in the beginning.
func turnOf(tasks []string, callers, caller, n int) (task, step string) {
	own := max(len(tasks)/callers, 1)
	task = tasks[(caller*own+n%own)%len(tasks)]
	if n/own%2 == 0 {
		return task, "check"
	}
	return task, "build"
}

// measureMoves measures control.Move with c callers.
func (e *engine) measureMoves(ctx context.Context, c int, b bound) (Load, error) {
	begun := make([]int, c)
	for caller := range c {
		begun[caller] = e.made[caller]
	}
	counts := make([]int, c)
	l, err := closedLoop(ctx, c, b, func(ctx context.Context, caller, n int) error {
		counts[caller] = n + 1
		return e.move(ctx, c, caller, begun[caller]+n)
	})
	for caller := range c {
		e.made[caller] += counts[caller]
	}
	return l, err
}
