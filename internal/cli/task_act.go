package cli

import (
	"fmt"
	"io"

	"github.com/fairlead/fairlead"
)

type taskMove struct {
	taskRef
	Step     string `arg:"" help:"Step to move to."`
	Workflow string `help:"Another workflow to move to."`
	Note     string `help:"What the next step should know."`
	Visit    int    `help:"Refuse unless the task is still at this visit."`
	Op       string `help:"Operation id."`
}

func (c *taskMove) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	out, err := cl.Move(e.ctx, c.Task, fairlead.MoveBody{
		Step: c.Step, Workflow: c.Workflow, Note: c.Note, ExpectedVisit: c.Visit, Op: fairlead.OpID(c.Op),
	})
	if err != nil {
		return err
	}
	return e.outcome(out)
}

// outcome shows what a command did to a task, and why.
func (e *env) outcome(o fairlead.Outcome) error {
	return e.show(o, func(w io.Writer) {
		if o.DryRun {
			fmt.Fprintln(w, "Dry run: nothing was changed.")
		}
		switch {
		case o.Held != "":
			fmt.Fprintf(w, "Held: %s. The task stays at %s.\n", o.Held, o.Step)
		case o.Moved:
			fmt.Fprintf(w, "Moved to %s (visit %d).\n", o.Step, o.Visit)
		case o.Deferred:
			fmt.Fprintf(w, "Put aside until what blocks the task is cleared. It stays at %s.\n", o.Step)
		default:
			fmt.Fprintf(w, "At %s (visit %d).\n", o.Step, o.Visit)
		}
		for _, x := range o.Explanation {
			fmt.Fprintf(w, "  %-10s %s %s #%d %s", x.Outcome, x.Step, x.Trigger, x.Index, x.Action)
			for _, s := range []string{x.Reason, x.Detail} {
				if s != "" {
					fmt.Fprintf(w, " – %s", s)
				}
			}
			fmt.Fprintln(w)
		}
		for _, f := range o.Effects {
			fmt.Fprintf(w, "  + %s %v\n", f.Kind, f.Data)
		}
	})
}

type taskComment struct {
	taskRef
	Text string `arg:"" help:"The comment; - reads stdin."`
	Op   string `help:"Operation id."`
}

func (c *taskComment) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	if c.Text == "-" {
		if c.Text, err = e.read("-"); err != nil {
			return err
		}
	}
	v, err := cl.Comment(e.ctx, c.Task, fairlead.CommentBody{Text: c.Text, Op: fairlead.OpID(c.Op)})
	if err != nil {
		return err
	}
	return e.show(v, func(w io.Writer) { fmt.Fprintf(w, "%s  comment %d added\n", v.ID, v.Seq) })
}

// taskView shows the task that a command returned.
func (e *env) taskView(t fairlead.TaskView, err error) error {
	if err != nil {
		return err
	}
	return e.show(t, func(w io.Writer) { taskLine(w, t) })
}

type taskBlock struct {
	taskRef
	By string `arg:"" help:"Task to wait for."`
}

func (c *taskBlock) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.taskView(cl.AddBlocker(e.ctx, c.Task, fairlead.BlockerBody{BlockedBy: c.By}))
}

type taskUnblock struct {
	taskRef
	By string `arg:"" help:"Task it no longer waits for."`
}

func (c *taskUnblock) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.taskView(cl.RemoveBlocker(e.ctx, c.Task, c.By, fairlead.OpBody{}))
}

type taskAdd struct {
	taskRef
	Role   string `arg:"" help:"reviewer, approver, watcher or collaborator."`
	Agent  string `help:"Agent to add." xor:"who" required:""`
	Person string `help:"Person to add." xor:"who" required:""`
}

func (c *taskAdd) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.taskView(cl.AddParticipant(e.ctx, c.Task, fairlead.ParticipantBody{
		NewParticipant: fairlead.NewParticipant{Role: fairlead.Role(c.Role), Agent: c.Agent, Person: c.Person},
	}))
}

type taskRemove struct {
	taskRef
	Participant string `arg:"" help:"Id of the participant or seat."`
}

func (c *taskRemove) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.taskView(cl.RemoveParticipant(e.ctx, c.Task, c.Participant, fairlead.OpBody{}))
}

type taskArchive struct{ taskRef }

func (c *taskArchive) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.taskView(cl.Archive(e.ctx, c.Task, fairlead.OpBody{}))
}

type taskStop struct{ taskRef }

func (c *taskStop) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.taskView(cl.Stop(e.ctx, c.Task, fairlead.OpBody{}))
}

type taskStart struct {
	taskRef
	Message string `help:"A message for the agent." short:"m"`
	Agent   string `help:"Another agent than the step's."`
	Queue   bool   `help:"Queue the run if the task or agent is busy."`
}

func (c *taskStart) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	body := fairlead.StartBody{Message: c.Message, Agent: c.Agent}
	if c.Queue {
		body.IfBusy = "queue"
	}
	r, err := cl.Start(e.ctx, c.Task, body)
	if err != nil {
		return err
	}
	return e.show(r, func(w io.Writer) { fmt.Fprintf(w, "%s  %s\n", r.Run, r.Status) })
}

type taskQuorum struct{ taskRef }

func (c *taskQuorum) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	all, err := cl.Quorum(e.ctx, c.Task)
	if err != nil {
		return err
	}
	return e.show(all, func(w io.Writer) {
		for _, q := range all {
			fmt.Fprintf(w, "%s → %s: %s of %s, %d of %d, holds: %t %s\n", q.Trigger, q.To, q.Threshold, q.Role, q.Received, q.Needed, q.Holds, q.Reason)
			for _, s := range q.Missing {
				fmt.Fprintf(w, "  missing: %s%s\n", s.Agent, s.Person)
			}
		}
	})
}
