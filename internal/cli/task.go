package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
)

type taskCmd struct {
	Create  taskCreate  `cmd:"" help:"Create a task."`
	List    taskList    `cmd:"" help:"List tasks."`
	Show    taskShow    `cmd:"" help:"Show a task."`
	Update  taskUpdate  `cmd:"" help:"Change fields of a task."`
	Move    taskMove    `cmd:"" help:"Move a task to another step."`
	Comment taskComment `cmd:"" help:"Write a comment."`
	Block   taskBlock   `cmd:"" help:"Let a task wait for another one."`
	Unblock taskUnblock `cmd:"" help:"Take a blocker away."`
	Add     taskAdd     `cmd:"" help:"Add a participant to a task."`
	Remove  taskRemove  `cmd:"" help:"Remove a participant or seat from a task."`
	Archive taskArchive `cmd:"" help:"Archive a task."`
	Start   taskStart   `cmd:"" help:"Start the task's agent at once."`
	Stop    taskStop    `cmd:"" help:"Stop what runs or waits to run for a task."`
	Watch   taskWatch   `cmd:"" help:"Follow what happens to a task."`
	Quorum  taskQuorum  `cmd:"" help:"Explain the quorum guards of the task's step."`
}

type taskCreate struct {
	Title       string   `arg:"" help:"What is to be done."`
	Workflow    string   `help:"Workflow (default kanban)." short:"w"`
	Step        string   `help:"Step to begin at."`
	Description string   `help:"More about it; - reads stdin." short:"d"`
	Require     []string `help:"A requirement; repeat for more." sep:"none"`
	Priority    string   `help:"urgent, high, medium or low."`
	Label       []string `help:"A label; repeat for more." short:"l"`
	Parent      string   `help:"Parent task."`
	Agent       string   `help:"Primary agent."`
	Repo        string   `help:"Git repository to work in." placeholder:"PATH"`
	Base        string   `help:"Branch or commit to start from."`
	BlockedBy   []string `help:"Task to wait for; repeat for more."`
	Op          string   `help:"Operation id: the same one again changes nothing."`
}

func (c *taskCreate) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	if c.Description == "-" {
		if c.Description, err = e.read("-"); err != nil {
			return err
		}
	}
	body := fairlead.NewTask{
		Title: c.Title, Workflow: c.Workflow, Step: c.Step, Description: c.Description, Requirements: c.Require,
		Priority: fairlead.Priority(c.Priority), Labels: c.Label, Parent: c.Parent, Agent: c.Agent, BlockedBy: c.BlockedBy, Op: fairlead.OpID(c.Op),
	}
	if c.Repo != "" {
		body.Repository = &fairlead.Repository{Path: c.Repo, Base: c.Base}
	}
	t, err := cl.CreateTask(e.ctx, body)
	if err != nil {
		return err
	}
	return e.show(t, func(w io.Writer) { taskLine(w, t) })
}

func taskLine(w io.Writer, t fairlead.TaskView) {
	fmt.Fprintf(w, "%s  %s · %s · %s  %s\n", t.Identifier, t.Workflow, t.Step, t.State, t.Title)
}

type taskList struct {
	Workflow string `help:"Only of this workflow." short:"w"`
	Step     string `help:"Only at this step."`
	State    string `help:"Only in this state: todo, queued, running, needs_you, waiting, failed, paused, done, cancelled."`
	Label    string `help:"Only with this label."`
	Q        string `help:"Only with this text in identifier, title or description." name:"query" short:"q"`
	Limit    int    `help:"At most so many." default:"50"`
}

func (c *taskList) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	tasks := []fairlead.TaskView{}
	next := func(ctx context.Context, cursor string) (fairlead.Page[fairlead.TaskView], error) {
		q := client.TaskQuery{Workflow: c.Workflow, Step: c.Step, State: c.State, Label: c.Label, Q: c.Q}
		q.Cursor, q.Limit = cursor, min(200, c.Limit)
		return cl.ListTasks(ctx, q)
	}
	for t, err := range client.Each(e.ctx, next) {
		if err != nil {
			return err
		}
		if tasks = append(tasks, t); len(tasks) == c.Limit {
			break
		}
	}
	var rows [][]string
	for _, t := range tasks {
		rows = append(rows, []string{t.Identifier, t.Workflow, t.Step, string(t.State), string(t.Priority), ago(t.MovedAt), cut(t.Title, 60)})
	}
	return e.table(tasks, []string{"task", "workflow", "step", "state", "priority", "here", "title"}, rows)
}

type taskRef struct {
	Task string `arg:"" help:"Id or identifier (FL-123)."`
}

type taskShow struct{ taskRef }

func (c *taskShow) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	t, err := cl.GetTask(e.ctx, c.Task)
	if err != nil {
		return err
	}
	return e.show(t, func(w io.Writer) { showTask(w, t) })
}

// worktree is the line that says which node has a task's worktree, and what others could go on from.
func worktree(t *fairlead.Worktree) string {
	if t == nil || t.Home == "" && !t.Restore {
		return ""
	}
	line := "  worktree on " + t.Host
	if t.Restore {
		line = "  worktree released from " + t.Host
	}
	if t.Checkpoint != nil {
		line += fmt.Sprintf(", checkpoint %.10s pushed %s ago", t.Checkpoint.Commit, ago(t.Checkpoint.At))
	}
	return line + told(", a later one is not: %s", t.Unpushed) + "\n"
}

func showTask(w io.Writer, t fairlead.TaskView) {
	fmt.Fprintf(w, "%s  %s\n", t.Identifier, t.Title)
	fmt.Fprintf(w, "  %s v%d › %s (visit %d, round %d) › %s\n", t.Workflow, t.WorkflowVersion, t.StepName, t.Visit, t.Round, t.State)
	fmt.Fprintf(w, "  priority %s, origin %s, by %s, %s old\n", t.Priority, t.Origin, t.Creator, ago(t.CreatedAt))
	for _, f := range [][2]string{{"agent", t.Agent}, {"labels", strings.Join(t.Labels, ", ")}, {"parent", t.Parent}} {
		if f[1] != "" {
			fmt.Fprintf(w, "  %s: %s\n", f[0], f[1])
		}
	}
	if c := t.Checkout; c != nil {
		fmt.Fprintf(w, "  checked out by %s (%s) since %s\n", c.Agent, c.Run, ago(c.Since))
	}
	fmt.Fprint(w, worktree(t.Worktree))
	if t.Children.Total > 0 {
		fmt.Fprintf(w, "  children: %d open, %d done, %d cancelled\n", t.Children.Open, t.Children.Done, t.Children.Cancelled)
	}
	for _, s := range t.Seats {
		verdict := string(s.Verdict)
		if verdict == "" {
			verdict = "–"
		}
		fmt.Fprintf(w, "  seat %s %s%s: %s %s  (%s)\n", s.Role, s.Agent, s.Person, verdict, cut(s.Note, 60), s.ID)
	}
	for _, b := range t.Blockers {
		fmt.Fprintf(w, "  waits for %s %s (open: %t)\n", b.Identifier, cut(b.Title, 50), b.Open)
	}
	for _, h := range t.Holds {
		fmt.Fprintf(w, "  held %s: %s → %s\n", h.Kind, h.Text, h.Release)
	}
	for _, r := range t.OpenRequests {
		fmt.Fprintf(w, "  open request %s (fairlead inbox show %s)\n", r, r)
	}
	if t.Description != "" {
		fmt.Fprintf(w, "\n%s\n", t.Description)
	}
}
