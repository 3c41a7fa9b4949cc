package app

import (
	"bufio"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
	"github.com/fairlead/fairlead/internal/config"
)

// DemoOptions tune the demo.
type DemoOptions struct {
	Auto bool // approve what the person is asked
	Keep bool // the home was named: it stays afterwards
	In   io.Reader
	Out  io.Writer
	// Story writes a record of the journal as a line for people.
	Story func(fairlead.RecordView) string
}

//go:embed demo/*.yaml
var demoFiles embed.FS

// demoTime bounds the demo with answers given by itself; a person may take as long as they like.
const demoTime = 3 * time.Minute

// Demo is the main job from end to end: a real server on SQLite, a real git repository with a failing test, scripted
// agents that work on it with real tools, a rejected review, rework, a person's approval, and the story at the end. It
// talks to its server by HTTP, as every client does.
func Demo(ctx context.Context, cfg *config.Config, o DemoOptions) (err error) {
	if o.Auto {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, demoTime)
		defer cancel()
	}
	if !o.Keep {
		if cfg.Home, err = os.MkdirTemp("", "fairlead-demo-"); err != nil {
			return fmt.Errorf("make demo home: %w", err)
		}
		cfg.Database = filepath.Join(cfg.Home, "fairlead.db")
		defer func() { err = errors.Join(err, os.RemoveAll(cfg.Home)) }()
	}
	ready := make(chan string, 1)
	a, err := New(ctx, cfg, &Options{Ready: func(addr string) { ready <- addr }})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- a.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	select {
	case addr := <-ready:
		d := &demo{o: o, home: cfg.Home, out: bufio.NewWriter(o.Out)}
		if d.client, err = client.New("http://"+addr, a.Token(), nil); err != nil {
			return err
		}
		return errors.Join(d.play(ctx), d.out.Flush())
	case err := <-ended:
		ended <- nil
		return errors.Join(errors.New("the demo's server ended early"), err)
	}
}

// demo is one playing of the main job.
type demo struct {
	o      DemoOptions
	home   string
	client *client.Client
	out    *bufio.Writer
	input  *bufio.Scanner
}

func (d *demo) say(format string, args ...any) {
	fmt.Fprintf(d.out, format+"\n", args...)
	d.out.Flush() //nolint:errcheck // a terminal that is gone is noticed at the end
}

func (d *demo) play(ctx context.Context) error {
	task, repo, err := d.begin(ctx)
	if err != nil {
		return err
	}
	if err := d.watch(ctx, task.ID); err != nil {
		return err
	}
	return d.tell(ctx, task, repo)
}

// begin makes the repository and the agents, saves the workflow and creates the task.
func (d *demo) begin(ctx context.Context) (t fairlead.TaskView, repo string, err error) {
	repo = filepath.Join(d.home, fmt.Sprintf("demo-%d", time.Now().UnixNano()))
	if err := demoRepository(ctx, repo); err != nil {
		return t, repo, err
	}
	if err := applyDemo(ctx, d.client); err != nil {
		return t, repo, err
	}
	t, err = d.client.CreateTask(ctx, demoTask(repo))
	if err != nil {
		return t, repo, err
	}
	d.say("%s: %s\n  workflow %s, repository %s\n", t.Identifier, t.Title, t.Workflow, repo)
	return t, repo, nil
}

// applyDemo saves the demo's agents and workflow.
func applyDemo(ctx context.Context, c *client.Client) error {
	for _, name := range []string{"coder", "reviewer", "tester"} {
		source, err := demoFiles.ReadFile("demo/" + name + ".yaml")
		if err != nil {
			return err
		}
		if _, err := c.ApplyAgent(ctx, fairlead.AgentBody{Source: string(source)}); err != nil {
			return err
		}
	}
	source, err := demoFiles.ReadFile("demo/workflow.yaml")
	if err != nil {
		return err
	}
	_, err = c.SaveWorkflow(ctx, fairlead.WorkflowBody{Source: string(source)})
	return err
}

func demoTask(repo string) fairlead.NewTask {
	return fairlead.NewTask{
		Title: "The discount is added instead of taken off", Workflow: "demo", Priority: fairlead.PriorityHigh,
		Description:  "price.sh 200 10 should print 180. Reproduce it with: sh test.sh",
		Requirements: []string{"sh test.sh passes", "a test covers the fault"},
		Repository:   &fairlead.Repository{Path: repo},
	}
}

// watch follows the task until it has ended, and lets the person answer what they are asked.
func (d *demo) watch(ctx context.Context, task string) error {
	follow, stop := context.WithCancel(ctx)
	defer stop()
	// The place asked for is in no log: the first event is a reset at the head, so that nothing before it is missed.
	told := int64(0)
	for ev, err := range d.client.Events(follow, "0-0", "task:"+task, "inbox") {
		if err != nil {
			return fmt.Errorf("follow the task: %w", err)
		}
		_ = ev // whatever happened: the journal tells it, and the inbox says what is open
		if told, err = d.news(ctx, task, told); err != nil {
			return err
		}
		if err := d.answer(ctx, task); err != nil {
			return err
		}
		t, err := d.client.GetTask(ctx, task)
		if err != nil {
			return err
		}
		switch t.State {
		case fairlead.StateDone:
			_, err := d.news(ctx, task, told)
			return err
		case fairlead.StateFailed, fairlead.StateCancelled, fairlead.StatePaused:
			return fairlead.Errorf(fairlead.CodeInternal, "the demo's task is %s at %s", t.State, t.Step)
		}
	}
	return ctx.Err()
}

// news prints what the journal has since the last time.
func (d *demo) news(ctx context.Context, task string, after int64) (int64, error) {
	for {
		p, err := d.client.Journal(ctx, task, after, 200)
		if err != nil {
			return after, err
		}
		for _, r := range p.Items {
			after = r.Seq
			d.say("%s", d.o.Story(r))
		}
		if p.NextCursor == "" {
			return after, nil
		}
	}
}

// answer lets the person answer the open requests of the task. One that was closed meanwhile is no error.
func (d *demo) answer(ctx context.Context, task string) error {
	open, err := d.client.ListRequests(ctx, client.RequestQuery{Task: task, State: string(fairlead.RequestOpen)})
	if err != nil {
		return err
	}
	for _, r := range open.Items {
		verdict := "approve"
		if !d.o.Auto {
			var ok bool
			if verdict, ok = d.ask(r); !ok {
				return fairlead.Errorf(fairlead.CodeRefused, "no answer: the input has ended").WithHint("use --answer auto to approve by itself")
			}
		}
		_, err := d.client.Answer(ctx, r.ID, fairlead.AnswerBody{Answer: fairlead.Answer{Verdict: verdict}})
		if err != nil && !fairlead.IsCode(err, fairlead.CodeConflict) {
			return err
		}
	}
	return nil
}

// ask asks in the terminal until the answer is one of the two.
func (d *demo) ask(r fairlead.RequestView) (string, bool) {
	if d.input == nil {
		d.input = bufio.NewScanner(d.o.In)
	}
	for {
		d.say("\n  %s\n  1 approve   2 reject", r.Prompt)
		if !d.input.Scan() {
			return "", false
		}
		switch strings.TrimSpace(d.input.Text()) {
		case "1", "approve", "y", "yes":
			return "approve", true
		case "2", "reject", "n", "no":
			return "reject", true
		}
	}
}

// tell ends the demo with the proof: the fix is on the task's branch and the test passes there.
func (d *demo) tell(ctx context.Context, t fairlead.TaskView, repo string) error {
	branches, err := git(ctx, repo, "for-each-ref", "--format=%(refname:short)", "refs/heads/fairlead/"+t.Identifier+"-*")
	if err != nil {
		return err
	}
	branch, _, _ := strings.Cut(branches, "\n")
	if branch == "" {
		return fairlead.Errorf(fairlead.CodeInternal, "the demo's branch is missing")
	}
	log, err := git(ctx, repo, "log", "--oneline", "main.."+branch)
	if err != nil {
		return err
	}
	diff, err := git(ctx, repo, "diff", "--stat", "main", branch)
	if err != nil {
		return err
	}
	d.say("\n%s is done. On branch %s:\n%s\n%s", t.Identifier, branch, indent(log), indent(diff))
	return nil
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }
