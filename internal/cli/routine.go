package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

type routineCmd struct {
	List     routineList     `cmd:"" default:"1" help:"List routines."`
	Show     routineShow     `cmd:"" help:"Show a routine."`
	Apply    routineApply    `cmd:"" help:"Save a routine from a file."`
	Fire     routineFire     `cmd:"" help:"Fire a routine now; its schedule does not move."`
	Pause    routinePause    `cmd:"" help:"Pause a routine: it does not fire by itself."`
	Resume   routineResume   `cmd:"" help:"Let a paused routine fire again."`
	Receipts routineReceipts `cmd:"" help:"What became of a routine's fires."`
}

type routineList struct{}

func (c *routineList) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	all, err := cl.ListRoutines(e.ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, r := range all {
		rows = append(rows, []string{r.Key, routineState(r), nextOf(r), r.LastTask, strconv.Itoa(r.Open), r.Workflow, r.Schedule})
	}
	return e.table(all, []string{"routine", "state", "next", "last task", "open", "workflow", "schedule"}, rows)
}

func routineState(r fairlead.RoutineView) string {
	switch {
	case r.Paused:
		return "paused"
	case r.WaitingAt != nil:
		return "waits"
	}
	return "ready"
}

func nextOf(r fairlead.RoutineView) string {
	if r.NextAt == nil {
		return "-"
	}
	return r.NextAt.Local().Format(time.DateTime)
}

// routineView shows the routine that a command returned.
func (e *env) routineView(r fairlead.RoutineView, err error) error {
	if err != nil {
		return err
	}
	return e.show(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s  %s %s\n", r.Key, r.Name, routineState(r), r.PauseReason)
		fmt.Fprintf(w, "  makes %q on %s, missed: %s, overlap: %s, webhook: %t\n", r.Title, r.Workflow, r.Missed, r.Overlap, r.Webhook)
		fmt.Fprintf(w, "  schedule: %s, next: %s, last: %s, open: %d\n", r.Schedule, nextOf(r), r.LastTask, r.Open)
	})
}

type routineKey struct {
	Key string `arg:"" help:"Key of the routine."`
}

type routineShow struct{ routineKey }

func (c *routineShow) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.routineView(cl.GetRoutine(e.ctx, c.Key))
}

type routineApply struct {
	File string `arg:"" help:"YAML file; - reads stdin."`
}

func (c *routineApply) Run(e *env) error {
	source, err := e.read(c.File)
	if err != nil {
		return err
	}
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.routineView(cl.ApplyRoutine(e.ctx, fairlead.RoutineBody{Source: source}))
}

type routineFire struct {
	routineKey
	Payload string `help:"JSON object that the task gets as metadata." placeholder:"JSON"`
	Op      string `help:"Operation id: the same again returns the first task."`
}

func (c *routineFire) Run(e *env) error {
	body := fairlead.FireBody{Op: fairlead.OpID(c.Op)}
	if c.Payload != "" {
		if err := json.Unmarshal([]byte(c.Payload), &body.Payload); err != nil {
			return errUsage{"--payload is not a JSON object"}
		}
	}
	cl, err := e.client()
	if err != nil {
		return err
	}
	v, err := cl.FireRoutine(e.ctx, c.Key, body)
	if err != nil {
		return err
	}
	return e.show(v, func(w io.Writer) {
		task := ""
		if v.Task != nil {
			task = v.Task.Identifier
		}
		fmt.Fprintf(w, "%s  %s %s %s\n", v.Routine, v.Outcome, task, v.Reason)
	})
}

type routinePause struct {
	routineKey
	Reason string `help:"Why."`
}

func (c *routinePause) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.routineView(cl.PauseRoutine(e.ctx, c.Key, fairlead.PauseBody{Reason: c.Reason}))
}

type routineResume struct{ routineKey }

func (c *routineResume) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.routineView(cl.ResumeRoutine(e.ctx, c.Key, fairlead.PauseBody{}))
}

type routineReceipts struct {
	routineKey
	Limit int `help:"How many, newest first." default:"50"`
}

func (c *routineReceipts) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	p, err := cl.RoutineReceipts(e.ctx, c.Key, client.Page{Limit: c.Limit})
	if err != nil {
		return err
	}
	var rows [][]string
	for _, r := range p.Items {
		rows = append(rows, []string{r.At.Local().Format(time.DateTime), strconv.Itoa(r.Count), r.Outcome, r.Reason, r.Cause, r.Task})
	}
	return e.table(p.Items, []string{"at", "count", "outcome", "reason", "cause", "task"}, rows)
}
