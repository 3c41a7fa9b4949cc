package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/fairlead/fairlead/internal/config"
)

type serveCmd struct {
	Addr     string   `help:"host:port to listen on." placeholder:"127.0.0.1:7420"`
	Database string   `help:"postgres://… or the path of a SQLite file." placeholder:"URL"`
	Workers  string   `help:"Runs at once on this node." placeholder:"4"`
	Hosts    []string `help:"Further Host names to answer to."`
	Labels   []string `help:"Labels of this node."`
	LogLevel string   `help:"debug, info, warn or error."`
	LogJSON  bool     `help:"Log lines as JSON." name:"log-json"`
	Traces   string   `help:"off, or otlp: spans go to an OpenTelemetry collector." placeholder:"off"`
	Drain    string   `help:"How long a stop waits for live runs." placeholder:"30s"`
}

func (c *serveCmd) settings() map[string]string {
	m := map[string]string{
		"addr": c.Addr, "database": c.Database, "workers": c.Workers, "hosts": strings.Join(c.Hosts, ","), "labels": strings.Join(c.Labels, ","),
		"log_level": c.LogLevel, "traces": c.Traces, "drain": c.Drain,
	}
	if c.LogJSON {
		m["log_json"] = "true"
	}
	return m
}

func (c *serveCmd) Run(e *env) error {
	cfg, err := e.settings(c.settings())
	if err != nil {
		return err
	}
	return e.Serve(e.ctx, cfg, e.Process)
}

type demoCmd struct {
	Answer string `help:"Answer the person's requests: auto approves, ask asks here." enum:"auto,ask" default:"ask"`
}

func (c *demoCmd) Run(e *env) error {
	cfg, err := e.settings(map[string]string{"addr": "127.0.0.1:0"})
	if err != nil {
		return err
	}
	return e.Demo(e.ctx, cfg, DemoOptions{Answer: c.Answer, Keep: e.flags["home"] != ""}, e.Process)
}

type doctorCmd struct{}

// Run shows every effective setting with its source, and whether the server answers. It fails when a setting is wrong
// or the server does not answer.
func (c *doctorCmd) Run(e *env) error {
	cfg, err := e.settings(nil)
	if err != nil {
		return err
	}
	type check struct {
		Settings []config.Value `json:"settings"`
		Server   string         `json:"server"`
	}
	out := check{Server: "ok"}
	for _, v := range cfg.Values() {
		if v.Secret() && v.Value != "" {
			v.Value = "(set, not shown)"
		}
		out.Settings = append(out.Settings, v)
	}
	cl, err := e.client()
	if err == nil {
		err = cl.Ready(e.ctx)
	}
	if err == nil {
		_, err = cl.ListWorkspaces(e.ctx)
	}
	if err != nil {
		out.Server = err.Error()
	}
	shown := e.show(out, func(w io.Writer) {
		for _, v := range out.Settings {
			fmt.Fprintf(w, "%-10s %-40s %s\n", v.Key, v.Value, v.Source)
		}
		fmt.Fprintf(w, "%-10s %s\n", "server", out.Server)
	})
	return errors.Join(shown, err)
}

type versionCmd struct{}

func (c *versionCmd) Run(e *env) error {
	return e.show(map[string]string{"version": e.Version}, func(w io.Writer) { fmt.Fprintln(w, "fairlead", e.Version) })
}
