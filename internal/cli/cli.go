package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"github.com/fairlead/fairlead/client"
	"github.com/fairlead/fairlead/internal/config"
)

// Process is what the command line has of its process.
type Process struct {
	Args    []string // without the program's name
	Environ []string
	UserDir string
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Version string
	// Serve runs a server until ctx ends; Demo runs the main job. Neither is part of this package.
	Serve func(ctx context.Context, cfg *config.Config, p *Process) error
	Demo  func(ctx context.Context, cfg *config.Config, o DemoOptions, p *Process) error
	// Backup copies the database to a new file; Restored makes a copy that was put back a new incarnation.
	Backup   func(ctx context.Context, cfg *config.Config, file string) error
	Restored func(ctx context.Context, cfg *config.Config) error
}

// DemoOptions are the flags of the demo.
type DemoOptions struct {
	Answer string // auto | ask
	Keep   bool   // the home was named, so it stays
}

// grammar is the whole command line.
type grammar struct {
	Home      string `help:"Directory of database, token and worktrees." placeholder:"DIR"`
	URL       string `help:"Server to talk to." name:"url" placeholder:"URL"`
	Token     string `help:"Token for the server." placeholder:"TOKEN"`
	Workspace string `help:"Workspace." placeholder:"KEY"`
	JSON      bool   `help:"Print JSON." name:"json"`

	Serve    serveCmd    `cmd:"" help:"Run the server."`
	Demo     demoCmd     `cmd:"" help:"Run the main job end to end on a real git repository, then end."`
	Task     taskCmd     `cmd:"" help:"Tasks."`
	Workflow workflowCmd `cmd:"" help:"Workflows."`
	Agent    agentCmd    `cmd:"" help:"Agents."`
	Run      runCmd      `cmd:"" help:"Runs."`
	Inbox    inboxCmd    `cmd:"" help:"What waits for you."`
	Decide   decideCmd   `cmd:"" help:"Give your verdict on a task."`
	Trigger  triggerCmd  `cmd:"" help:"Fire a manual trigger, or see what any trigger would do."`
	Routine  routineCmd  `cmd:"" help:"Tasks that come again."`
	Person   personCmd   `cmd:"" help:"People."`
	Space    spaceCmd    `cmd:"" name:"workspace" help:"Workspaces."`
	Tokens   tokenCmd    `cmd:"" name:"token" help:"Tokens."`
	Budget   budgetCmd   `cmd:"" help:"Limits on what agents may spend."`
	Node     nodeCmd     `cmd:"" name:"node" help:"Nodes: every start of a server."`
	Journal  journalCmd  `cmd:"" help:"A task's journal."`
	Backup   backupCmd   `cmd:"" help:"Copy the SQLite database to a new file, also while the server runs."`
	Restored restoredCmd `cmd:"" help:"Say that a copy of the database was put back. Backups of this program need it not."`
	Doctor   doctorCmd   `cmd:"" help:"Every setting with its source, and whether the server answers."`
	Version  versionCmd  `cmd:"" help:"The version."`
}

// exit is how kong ends a command line that only asked for help.
type exit int

// Run parses and carries out one command line and returns its exit code.
func Run(ctx context.Context, p *Process) (code int) {
	g := &grammar{}
	parser, err := kong.New(g, kong.Name("fairlead"), kong.Writers(p.Stdout, p.Stderr), kong.Exit(func(code int) { panic(exit(code)) }),
		kong.Description("Runs work through workflows that AI agents, code and people share."), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		fmt.Fprintln(p.Stderr, "fairlead:", err)
		return 1
	}
	defer func() {
		if v := recover(); v != nil {
			e, asked := v.(exit)
			if !asked {
				panic(v)
			}
			code = int(e)
		}
	}()
	parsed, err := parser.Parse(p.Args)
	if err != nil {
		fmt.Fprintf(p.Stderr, "fairlead: %v\n(see: fairlead --help)\n", err)
		return usage
	}
	return p.carryOut(ctx, g, parsed)
}

// usage is the exit code of wrong usage.
const usage = 2

// errUsage is a fault of the command line that the grammar cannot see.
type errUsage struct{ text string }

func (e errUsage) Error() string { return e.text }

func (p *Process) carryOut(ctx context.Context, g *grammar, parsed *kong.Context) int {
	env := &env{Process: p, ctx: ctx, json: g.JSON, workspace: g.Workspace, flags: map[string]string{}}
	for key, value := range map[string]string{"home": g.Home, "url": g.URL, "token": g.Token} {
		if value != "" {
			env.flags[key] = value
		}
	}
	err := parsed.Run(env)
	var wrong errUsage
	switch {
	case err == nil:
		return 0
	case errors.As(err, &wrong):
		fmt.Fprintln(p.Stderr, "fairlead:", wrong.text)
		return usage
	}
	env.complain(err)
	return client.ExitCode(err)
}
