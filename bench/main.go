package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"syscall"
	"time"
)

// limit ends a run that does not end by itself.
const limit = 20 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, limit)
	acted, err := actAsNode(ctx)
	if !acted {
		err = run(ctx, os.Args[1:], os.Stdout)
	}
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type flags struct {
	only, json, markdown, profile, postgres, bin, dir string
	length                                            time.Duration
	callers                                           int
	quick, strict                                     bool
}

func parse(args []string) (f flags, err error) {
	set := flag.NewFlagSet("bench", flag.ContinueOnError)
	set.StringVar(&f.only, "only", "", "run the scenarios whose name matches this pattern")
	set.StringVar(&f.json, "json", "", "write the report to this file as JSON")
	set.StringVar(&f.markdown, "markdown", "", "write the figures to this file as a Markdown table")
	set.StringVar(&f.profile, "profile", "", "write a CPU profile of this process to this file (the scenario engine runs in it)")
	set.StringVar(&f.postgres, "postgres", os.Getenv("FAIRLEAD_TEST_POSTGRES"), "URL of a Postgres that may create databases; empty leaves Postgres out")
	set.StringVar(&f.bin, "bin", "", "measure this binary instead of building one")
	set.StringVar(&f.dir, "dir", "", "directory for homes and databases; default the system's for temporary files")
	set.IntVar(&f.callers, "callers", 0, "measure with this number of callers alone")
	set.DurationVar(&f.length, "for", 0, "how long each rate is measured; default 4s")
	set.BoolVar(&f.quick, "quick", false, "a few operations of each kind: shows that everything works, measures nothing")
	set.BoolVar(&f.strict, "strict", false, "exit 1 when a goal is missed")
	return f, set.Parse(args)
}

func run(ctx context.Context, args []string, out io.Writer) (err error) {
	f, err := parse(args)
	if err != nil {
		return err
	}
	only, err := regexp.Compile(f.only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(f.dir, "fairlead-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // scratch
	b := &bench{dir: dir, bin: f.bin, out: out, report: newReport(), size: full, admin: f.postgres}
	if f.quick {
		b.size = quick
	}
	if f.length > 0 {
		b.size.bound = bound{warm: f.length / 4, run: f.length}
	}
	if f.callers > 0 {
		b.size.callers = []int{f.callers}
	}
	if b.report.Sync, err = syncTime(filepath.Join(dir, "sync")); err != nil {
		return err
	}
	if b.bin == "" {
		if b.bin, err = build(ctx, dir); err != nil {
			return err
		}
	}
	if f.profile != "" {
		stop, err := profileTo(f.profile)
		if err != nil {
			return err
		}
		defer stop()
	}
	for _, s := range scenarios() {
		if !only.MatchString(s.name) {
			continue
		}
		fmt.Fprintln(out, s.name)
		if err := b.attempt(ctx, s); err != nil {
			return err
		}
	}
	return b.finish(f)
}

// finish prints and saves the report.
func (b *bench) finish(f flags) error {
	if err := b.report.print(b.out); err != nil {
		return err
	}
	if f.json != "" {
		if err := b.report.save(f.json); err != nil {
			return err
		}
	}
	if f.markdown != "" {
		if err := b.report.markdown(f.markdown); err != nil {
			return err
		}
	}
	if n := b.report.missed(); f.strict && n > 0 {
		return fmt.Errorf("%d goals missed", n)
	}
	return nil
}

func (r *Report) missed() (n int) {
	for _, res := range r.Results {
		for _, g := range res.Goals {
			if !g.Met {
				n++
			}
		}
	}
	return n
}

func profileTo(path string) (stop func(), err error) {
	w, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(w); err != nil {
		return nil, joinClose(err, w)
	}
	return func() {
		pprof.StopCPUProfile()
		_ = w.Close()
	}, nil
}
