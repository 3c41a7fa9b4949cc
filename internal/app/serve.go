package app

import (
	"context"
	"fmt"
	"io"

	"github.com/fairlead/fairlead/internal/config"
	"github.com/fairlead/fairlead/internal/telemetry"
)

// Serve runs a server until ctx ends. It says on out where it listens and writes its log to logs.
func Serve(ctx context.Context, cfg *config.Config, out, logs io.Writer) error {
	format := "text"
	if cfg.LogJSON {
		format = "json"
	}
	log, err := telemetry.NewLogger(logs, &telemetry.LogOptions{Level: cfg.LogLevel, Format: format})
	if err != nil {
		return err
	}
	a, err := New(ctx, cfg, &Options{Log: log, Ready: func(addr string) {
		fmt.Fprintf(out, "Fairlead listens on http://%s (home %s)\n", addr, cfg.Home)
	}})
	if err != nil {
		return err
	}
	return a.Run(ctx)
}
