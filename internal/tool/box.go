package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/workspace"
)

// Options bound the tools of a workspace; zero values are the defaults.
type Options struct {
	Shell        time.Duration        // longest time of one shell call; default 10 minutes
	Output       int                  // bytes of a result; default 64 KiB
	Memory       int64                // resident bytes of a shell's tree; default none
	Env          []string             // more environment of shells, "NAME=value"
	Writable     []string             // where shells may write; empty is everywhere (see workspace.Spec)
	Inherit      []string             // names of our variables that shells may see
	Fetch        bool                 // offer web_fetch
	FetchPrivate bool                 // web_fetch also reaches this machine and its network
	Deadline     func() time.Duration // instant of workspace.BootTime at which shells die; nil or 0 is never
}

// Box is the tools of one workspace. Close it when the turn is over.
type Box struct {
	jail    *workspace.Jail
	launch  *workspace.Launcher
	opts    Options
	tools   []tool
	checker *agent.Checker
	writing sync.Mutex // edits of one workspace follow each other
}

var (
	_ agent.ToolBox  = (*Box)(nil)
	_ agent.Foreseer = (*Box)(nil)
)

// tool is a tool's description with its code. run gets arguments that fit the schema.
type tool struct {
	spec agent.ToolSpec
	run  func(ctx context.Context, call agent.Call) agent.Result
}

// New makes read_file, list_files, grep, write_file, edit_file and shell for a directory, and web_fetch if it is wanted.
func New(launch *workspace.Launcher, dir string, opts *Options) (*Box, error) {
	b := &Box{launch: launch, opts: Options{Shell: 10 * time.Minute, Output: 64 << 10}}
	if opts != nil {
		shell, output := b.opts.Shell, b.opts.Output
		b.opts = *opts
		if b.opts.Shell <= 0 {
			b.opts.Shell = shell
		}
		if b.opts.Output <= 0 {
			b.opts.Output = output
		}
	}
	b.tools = []tool{b.readFile(), b.listFiles(), b.grep(), b.writeFile(), b.editFile(), b.shell()}
	if b.opts.Fetch {
		b.tools = append(b.tools, b.webFetch())
	}
	var err error
	if b.checker, err = agent.NewChecker(b.Tools()); err != nil {
		return nil, fmt.Errorf("make tools: %w", err)
	}
	if b.jail, err = workspace.OpenJail(dir); err != nil {
		return nil, fmt.Errorf("make tools: %w", err)
	}
	return b, nil
}

// Close lets go of the directory.
func (b *Box) Close() error { return b.jail.Close() }

// Tools lists them in that order.
func (b *Box) Tools() []agent.ToolSpec {
	out := make([]agent.ToolSpec, len(b.tools))
	for i, t := range b.tools {
		out[i] = t.spec
	}
	return out
}

// Call checks and runs one call.
func (b *Box) Call(ctx context.Context, call agent.Call) agent.Result {
	if _, bad := b.checker.Check(call); bad != nil {
		return *bad
	}
	if ctx.Err() != nil {
		return agent.Result{Outcome: agent.OutcomeCancelled, Text: "the turn was stopped"}
	}
	for _, t := range b.tools {
		if t.spec.Name == call.Name {
			r := t.run(ctx, call)
			r.Text = agent.Clip(r.Text, b.opts.Output)
			return r
		}
	}
	return agent.Result{Outcome: agent.OutcomeInvalid, Text: "there is no tool of this name"}
}

// args reads the arguments of a call that has been checked.
func args[T any](call agent.Call) (T, *agent.Result) {
	var v T
	if len(call.Args) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(call.Args, &v); err != nil {
		return v, &agent.Result{Outcome: agent.OutcomeInvalid, Text: "the arguments cannot be read"}
	}
	return v, nil
}

// refusal turns an error into words for the model. What the jail forbids is a denial, the rest the tool's no.
func refusal(err error) agent.Result {
	r := agent.Result{Outcome: agent.OutcomeError, Text: err.Error()}
	if fairlead.IsCode(err, fairlead.CodeForbidden) {
		r.Outcome = agent.OutcomeDenied
	}
	return r
}

func done(format string, args ...any) agent.Result {
	return agent.Result{Outcome: agent.OutcomeOK, Text: fmt.Sprintf(format, args...)}
}
