package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

type runCmd struct {
	List   runList   `cmd:"" help:"List runs."`
	Show   runShow   `cmd:"" help:"Show a run with its log."`
	Watch  runWatch  `cmd:"" help:"Follow a run."`
	Cancel runCancel `cmd:"" help:"Cancel a run."`
	Retry  runRetry  `cmd:"" help:"Try a dead run's work again."`
	Why    runWhy    `cmd:"" help:"Why a run waits, and what releases it."`

	Release runRelease `cmd:"" help:"Let a queued run go from the dead node that has its worktree, to go on from its last pushed checkpoint."`
}

type runList struct {
	Task   string `help:"Only of this task."`
	Agent  string `help:"Only of this agent."`
	Status string `help:"Only in this state."`
	Limit  int    `help:"At most so many." default:"50"`
}

func (c *runList) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	runs := []fairlead.RunView{}
	next := func(ctx context.Context, cursor string) (fairlead.Page[fairlead.RunView], error) {
		q := client.RunQuery{Task: c.Task, Agent: c.Agent, Status: c.Status}
		q.Cursor, q.Limit = cursor, min(200, c.Limit)
		return cl.ListRuns(ctx, q)
	}
	for r, err := range client.Each(e.ctx, next) {
		if err != nil {
			return err
		}
		if runs = append(runs, r); len(runs) == c.Limit {
			break
		}
	}
	var rows [][]string
	for _, r := range runs {
		rows = append(rows, []string{r.ID, string(r.Status), r.Outcome + string(r.ErrorClass), r.Agent, r.Step, r.Reason, strconv.Itoa(r.Absorbed), ago(r.RequestedAt)})
	}
	return e.table(runs, []string{"run", "status", "outcome", "agent", "step", "reason", "absorbed", "age"}, rows)
}

type runRef struct {
	ID string `arg:"" help:"Id of the run."`
}

type runShow struct{ runRef }

func (c *runShow) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	r, err := cl.GetRun(e.ctx, c.ID)
	if err != nil {
		return err
	}
	log, err := cl.RunEvents(e.ctx, c.ID, 0)
	if err != nil {
		return err
	}
	return e.show(r, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s %s  %s at %s (visit %d), attempt %d\n", r.ID, r.Status, r.Outcome, r.Agent, r.Step, r.Visit, r.Attempt)
		fmt.Fprint(w, told("  error: %s", string(r.ErrorClass)), told(" %s\n", r.ErrorMessage))
		for _, k := range r.Wakes {
			fmt.Fprintf(w, "  wake %d: %s by %s %s ago\n", k.Seq, k.Reason, k.By, ago(k.At))
		}
		for _, h := range r.Holds {
			fmt.Fprintf(w, "  held %s: %s → %s\n", h.Kind, h.Text, h.Release)
		}
		for _, v := range log.Items {
			fmt.Fprintln(w, runEvent(v))
		}
	})
}

func runEvent(v fairlead.RunEventView) string {
	return fmt.Sprintf("  %3d %s %-14s %s", v.Seq, v.At.Local().Format(time.TimeOnly), v.Kind, cut(fmt.Sprint(v.Data), 110))
}

type runWatch struct{ runRef }

// Run streams the run's log until the run has ended.
func (c *runWatch) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	for v, err := range cl.FollowRun(e.ctx, c.ID, 0) {
		if err != nil {
			return err
		}
		if e.json {
			err = e.line(v)
		} else {
			_, err = fmt.Fprintln(e.Stdout, runEvent(v))
		}
		if err != nil || v.Kind == fairlead.RunEventEnded {
			return err
		}
	}
	return nil
}

// runView shows the run that a command returned.
func (e *env) runView(r fairlead.RunView, err error) error {
	if err != nil {
		return err
	}
	return e.show(r, func(w io.Writer) { fmt.Fprintf(w, "%s  %s %s\n", r.ID, r.Status, r.StopReason) })
}

type runCancel struct{ runRef }

func (c *runCancel) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.runView(cl.CancelRun(e.ctx, c.ID, fairlead.OpBody{}))
}

type runRetry struct{ runRef }

func (c *runRetry) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.runView(cl.RetryRun(e.ctx, c.ID, fairlead.OpBody{}))
}

type runRelease struct{ runRef }

func (c *runRelease) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.runView(cl.ReleaseRun(e.ctx, c.ID, fairlead.OpBody{}))
}

type runWhy struct{ runRef }

func (c *runWhy) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	holds, err := cl.Why(e.ctx, c.ID)
	if err != nil {
		return err
	}
	return e.show(holds, func(w io.Writer) {
		if len(holds) == 0 {
			fmt.Fprintln(w, "Nothing holds it.")
		}
		for _, h := range holds {
			fmt.Fprintf(w, "%-13s %s\n              released when: %s\n", h.Kind, h.Text, h.Release)
		}
	})
}
