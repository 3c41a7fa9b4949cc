package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// Result is one measured figure with the goal it has to meet.
type Result struct {
	Name     string  `json:"name"`
	Database string  `json:"database,omitempty"` // sqlite, postgres, "" where it makes no difference
	Callers  int     `json:"callers,omitempty"`
	Load     *Load   `json:"load,omitempty"`
	Value    float64 `json:"value,omitempty"` // of what has no load
	Unit     string  `json:"unit,omitempty"`
	Note     string  `json:"note,omitempty"`
	Goals    []Goal  `json:"goals,omitempty"`
}

// Goal is a bound on one figure of a result.
type Goal struct {
	What string  `json:"what"` // per_second, p50_ms, p99_ms, value
	Min  float64 `json:"min,omitempty"`
	Max  float64 `json:"max,omitempty"`
	Got  float64 `json:"got"`
	Met  bool    `json:"met"`
}

func atLeast(what string, n float64) Goal { return Goal{What: what, Min: n} }
func below(what string, n float64) Goal   { return Goal{What: what, Max: n} }

// weigh compares the goals with what was measured.
func (r *Result) weigh() {
	for i := range r.Goals {
		g := &r.Goals[i]
		g.Got = r.figure(g.What)
		g.Met = (g.Min == 0 || g.Got >= g.Min) && (g.Max == 0 || g.Got < g.Max)
	}
}

func (r *Result) figure(what string) float64 {
	if r.Load == nil {
		return r.Value
	}
	switch what {
	case "per_second":
		return r.Load.PerSecond
	case "p50_ms":
		return r.Load.P50
	case "p99_ms":
		return r.Load.P99
	}
	return r.Value
}

// Report is everything one run measured.
type Report struct {
	At      time.Time `json:"at"`
	Cores   int       `json:"cores"`
	Go      string    `json:"go"`
	System  string    `json:"system"`
	Sync    Load      `json:"sync"` // one fsync after 4 KiB where the databases are
	Results []Result  `json:"results"`
}

func newReport() *Report {
	return &Report{At: time.Now().UTC().Truncate(time.Second), Cores: runtime.NumCPU(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH}
}

// add takes a result up and says it at once, so that whoever waits sees that it goes on.
func (r *Report) add(out io.Writer, res Result) {
	res.weigh()
	r.Results = append(r.Results, res)
	fmt.Fprintf(out, "  %-44s %s\n", title(&res), figures(&res))
	if res.Note != "" {
		fmt.Fprintf(out, "      %s\n", res.Note)
	}
}

func title(r *Result) string {
	name := r.Name
	if r.Database != "" {
		name += ", " + r.Database
	}
	if r.Callers > 0 {
		name += fmt.Sprintf(", c = %d", r.Callers)
	}
	return name
}

func figures(r *Result) string {
	if r.Load == nil {
		return fmt.Sprintf("%.4g %s", r.Value, r.Unit)
	}
	var rate string
	if r.Load.PerSecond > 0 {
		rate = fmt.Sprintf("%.0f/s, ", r.Load.PerSecond)
	}
	var cpu string
	if r.Load.CPU > 0 {
		cpu = fmt.Sprintf(", server's CPU %.2f ms each", r.Load.CPU)
	}
	var spread string
	if r.Load.P50 > 0 {
		spread = fmt.Sprintf("p50 %.2f ms, p99 %.2f ms", r.Load.P50, r.Load.P99)
	}
	return strings.TrimSuffix(rate+spread, ", ") + cpu
}

func goals(r *Result) string {
	var out []string
	for _, g := range r.Goals {
		mark := "met"
		if !g.Met {
			mark = "MISSED"
		}
		bound := fmt.Sprintf("≥ %g", g.Min)
		if g.Max > 0 {
			bound = fmt.Sprintf("< %g", g.Max)
		}
		out = append(out, fmt.Sprintf("%s %s: %s", g.What, bound, mark))
	}
	return strings.Join(out, "; ")
}

// print writes the whole report as a table.
func (r *Report) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "\n%d cores, %s, %s; one fsync: p50 %.2f ms, p99 %.2f ms\n\n", r.Cores, r.System, r.Go, r.Sync.P50, r.Sync.P99)
	for i := range r.Results {
		res := &r.Results[i]
		fmt.Fprintf(w, "%s\t%s\t%s\n", title(res), figures(res), goals(res))
	}
	return w.Flush()
}

// save writes the report as JSON, for comparison over time.
func (r *Report) save(path string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o600)
}
