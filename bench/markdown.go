package main

import (
	"fmt"
	"os"
	"strings"
)

// markdown writes the report as the table of docs/BENCHMARKS.md.
func (r *Report) markdown(path string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d cores, %s, %s; one fsync after 4 KiB: p50 %.2f ms, p99 %.2f ms.\n\n", r.At.Format("2006-01-02"), r.Cores, r.System, r.Go,
		r.Sync.P50, r.Sync.P99)
	b.WriteString("| | database | callers | per second | p50 ms | p99 ms | server's CPU ms | figure | goal |\n|---|---|---|---|---|---|---|---|---|\n")
	for i := range r.Results {
		res := &r.Results[i]
		cells := []string{res.Name, res.Database, blank(float64(res.Callers), "%.0f"), "", "", "", "", "", strings.ReplaceAll(goals(res), "_", " ")}
		if l := res.Load; l != nil {
			cells[3], cells[4], cells[5], cells[6] = blank(l.PerSecond, "%.0f"), fmt.Sprintf("%.2f", l.P50), fmt.Sprintf("%.2f", l.P99), blank(l.CPU, "%.2f")
		} else {
			cells[7] = fmt.Sprintf("%.4g %s", res.Value, res.Unit)
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return os.WriteFile(path, []byte(b.String()), 0o600)
}

// blank is a number, or nothing for none.
func blank(v float64, format string) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}
