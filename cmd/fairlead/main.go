// Command fairlead is the server, its command line, and the warden of its agents' processes.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/fairlead/fairlead/internal/app"
	"github.com/fairlead/fairlead/internal/cli"
	"github.com/fairlead/fairlead/internal/config"
	"github.com/fairlead/fairlead/internal/workspace"
)

// version is set by the build.
var version = "dev"

func main() {
	// The warden runs beside every agent: it must start fast and know nothing of the rest.
	if len(os.Args) > 1 && os.Args[1] == "_warden" {
		os.Exit(workspace.WardenMain(os.Args[2:]))
	}
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// The first signal begins a drain; with the handler gone, the second one ends the process at once.
	context.AfterFunc(ctx, stop)
	home, err := os.UserHomeDir()
	if err != nil {
		home = os.TempDir()
	}
	return cli.Run(ctx, &cli.Process{
		Args: os.Args[1:], Environ: os.Environ(), UserDir: home, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: version,
		Serve: func(ctx context.Context, cfg *config.Config, p *cli.Process) error {
			return app.Serve(ctx, cfg, p.Stdout, p.Stderr)
		},
		Backup: func(ctx context.Context, cfg *config.Config, file string) error {
			return app.Backup(ctx, cfg, file)
		},
		Restored: func(ctx context.Context, cfg *config.Config) error { return app.Restored(ctx, cfg) },
		Demo: func(ctx context.Context, cfg *config.Config, o cli.DemoOptions, p *cli.Process) error {
			return app.Demo(ctx, cfg, app.DemoOptions{
				Auto: o.Answer == "auto", Keep: o.Keep, In: p.Stdin, Out: p.Stdout, Story: cli.Story,
			})
		},
	})
}
