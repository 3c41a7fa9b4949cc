package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// peer is another queue that does what this one was measured at, by the program in bench/peers.
type peer struct{ key, name string }

var peers = []peer{{"river", "River"}, {"dbos", "DBOS"}}

// peerScenario pairs a scenario of the peers' program with the figure of Fairlead's that it stands beside.
type peerScenario struct {
	key  string
	ours string // the name of our result begins with it
	n    func(s *queueSize) int
}

var peerScenarios = []peerScenario{
	{"enqueue", nameEnqueue, func(s *queueSize) int { return s.work }},
	{"work", nameWork, func(s *queueSize) int { return s.work }},
	{"paced", namePaced, func(s *queueSize) int { return s.paced }},
	{"burst", nameBurst, func(s *queueSize) int { return s.burst }},
}

// told is the line that the peers' program prints.
type told struct {
	System    string  `json:"system"`
	Version   string  `json:"version"`
	N         int     `json:"n"`
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_ms"`
	P99       float64 `json:"p99_ms"`
	Note      string  `json:"note"`
}

// measurePeers lets River and DBOS do the queue's scenarios, and compares where this run has both figures. Without their
// modules (a machine without a module proxy) it says so and measures nothing.
func measurePeers(ctx context.Context, b *bench, p place) error {
	bin, err := b.buildPeers(ctx)
	if err != nil {
		fmt.Fprintf(b.out, "  peers are left out: %v\n", err)
		return nil
	}
	for _, sc := range peerScenarios {
		for _, who := range peers {
			t, err := b.runPeer(ctx, bin, who, sc, p)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", who.name, sc.key, err)
			}
			l := Load{Ops: t.N, PerSecond: t.PerSecond, P50: t.P50, P99: t.P99}
			b.add(Result{Name: who.name + " " + t.Version + ": " + sc.ours, Database: p.name, Load: &l, Note: t.Note})
			b.compare(who, sc, p, &l)
		}
	}
	return nil
}

// compare adds how many times as fast Fairlead is.
func (b *bench) compare(who peer, sc peerScenario, p place, theirs *Load) {
	for _, r := range b.report.Results {
		if r.Load == nil || r.Database != p.name || !strings.HasPrefix(r.Name, sc.ours) {
			continue
		}
		value := r.Load.PerSecond / theirs.PerSecond
		if theirs.PerSecond == 0 {
			value = theirs.P50 / r.Load.P50
		}
		b.add(Result{Name: "Fairlead / " + who.name + ", " + sc.key, Database: p.name, Value: round(value), Unit: "×"})
		return
	}
}

// buildPeers builds the program, a module of its own.
func (b *bench) buildPeers(ctx context.Context) (string, error) {
	dir, err := peersDir()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(b.dir, "peers")
	if _, err := os.Stat(bin); err == nil {
		return bin, nil
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", bin, ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-buildvcs=false", "CGO_ENABLED=0")
	if b.size.queue.offline {
		build.Env = append(build.Env, "GOPROXY=off")
	}
	if out, err := build.CombinedOutput(); err != nil {
		first, _, _ := strings.Cut(string(out), "\n")
		return "", fmt.Errorf("build: %w: %s", err, first)
	}
	return bin, nil
}

// peersDir finds the module from wherever the program is started in the repository.
func peersDir() (string, error) {
	for _, dir := range []string{"bench/peers", "peers"} {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("start it in the repository: bench/peers is not there")
}

func (b *bench) runPeer(ctx context.Context, bin string, who peer, sc peerScenario, p place) (t told, err error) {
	s := &b.size.queue
	var url string
	if p.name == "postgres" {
		at, drop, err := scratchDatabase(ctx, b.admin)
		if err != nil {
			return t, err
		}
		defer drop()
		url = at
	} else {
		dir, err := b.scratch("peer")
		if err != nil {
			return t, err
		}
		url = filepath.Join(dir, "queue.db")
	}
	run := exec.CommandContext(ctx, bin, "-system", who.key, "-database", p.name, "-url", url, "-scenario", sc.key,
		"-n", strconv.Itoa(sc.n(s)), "-callers", strconv.Itoa(s.callers), "-workers", strconv.Itoa(s.workers), "-keys", strconv.Itoa(s.agents),
		"-for", b.size.bound.run.String(), "-every", s.rate.String())
	run.Stderr = os.Stderr
	out, err := run.Output()
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(out, &t)
}
