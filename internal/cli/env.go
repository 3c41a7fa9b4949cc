package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
	"github.com/fairlead/fairlead/internal/config"
)

// env is what a command works with.
type env struct {
	*Process
	ctx       context.Context
	json      bool
	workspace string
	flags     map[string]string // settings given as flags
}

// settings finds the effective settings; more are a command's own flags.
func (e *env) settings(more map[string]string) (*config.Config, error) {
	flags := map[string]string{}
	for _, m := range []map[string]string{e.flags, more} {
		for k, v := range m {
			if v != "" {
				flags[k] = v
			}
		}
	}
	return config.Load(config.Sources{Flags: flags, Environ: e.Environ, UserDir: e.UserDir})
}

// client connects to the server.
func (e *env) client() (*client.Client, error) {
	cfg, err := e.settings(nil)
	if err != nil {
		return nil, err
	}
	return client.New(cfg.URL, cfg.Token, &client.Options{Workspace: e.workspace})
}

// print writes one JSON value.
func (e *env) print(v any) error {
	enc := json.NewEncoder(e.Stdout)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// line writes one JSON line of a stream.
func (e *env) line(v any) error {
	enc := json.NewEncoder(e.Stdout)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// show prints v as JSON, or lets people read it.
func (e *env) show(v any, people func(w io.Writer)) error {
	if e.json {
		return e.print(v)
	}
	w := bufio.NewWriter(e.Stdout)
	people(w)
	return w.Flush()
}

// table prints v as JSON, or a table whose rows have one cell a column.
func (e *env) table(v any, head []string, rows [][]string) error {
	return e.show(v, func(w io.Writer) {
		if len(rows) == 0 {
			fmt.Fprintln(e.Stderr, "(none)")
			return
		}
		t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
		fmt.Fprintln(t, strings.ToUpper(strings.Join(head, "\t")))
		for _, r := range rows {
			fmt.Fprintln(t, strings.Join(r, "\t"))
		}
		t.Flush()
	})
}

// complain says an error to a person: what, where, and what to do.
func (e *env) complain(err error) {
	fmt.Fprintln(e.Stderr, "fairlead:", err)
	var x *fairlead.Error
	if !errors.As(err, &x) {
		return
	}
	for _, f := range x.Fields {
		fmt.Fprintln(e.Stderr, "  "+finding("", f))
	}
	for _, k := range slices.Sorted(maps.Keys(x.Data)) {
		fmt.Fprintf(e.Stderr, "  %s: %v\n", k, x.Data[k])
	}
	if x.Hint != "" {
		fmt.Fprintln(e.Stderr, "  →", x.Hint)
	}
}

// finding writes one finding as file:line:column: message (remedy).
func finding(file string, f fairlead.FieldError) string {
	var b strings.Builder
	if f.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d: ", file, f.Line, f.Column)
	} else if f.Path != "" {
		fmt.Fprintf(&b, "%s: ", f.Path)
	}
	b.WriteString(strings.TrimPrefix(f.Message, f.Path+": "))
	if f.Remedy != "" {
		fmt.Fprintf(&b, " (%s)", f.Remedy)
	}
	return strings.TrimPrefix(b.String(), ":")
}

// read reads a file, or stdin for "-".
func (e *env) read(name string) (string, error) {
	if name == "-" {
		b, err := io.ReadAll(io.LimitReader(e.Stdin, 8<<20))
		return string(b), err
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return "", errUsage{fmt.Sprintf("cannot read %s: %v", name, err)}
	}
	return string(b), nil
}

// ago says a time as people do.
func ago(s fairlead.Stamp) string {
	if s.IsZero() {
		return "-"
	}
	d := time.Since(s.Time)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// cut shortens a text to one line of n characters.
func cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// pairs reads KEY=VALUE arguments.
func pairs(list []string) (map[string]string, error) {
	out := map[string]string{}
	for _, p := range list {
		k, v, ok := strings.Cut(p, "=")
		if !ok || k == "" {
			return nil, errUsage{"write KEY=VALUE, not " + p}
		}
		out[k] = v
	}
	return out, nil
}
