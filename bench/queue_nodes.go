package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// nodeEnv makes this program a node: "<workers> <runs> <url>".
const nodeEnv = "FAIRLEAD_BENCH_NODE"

// nodeTold is what a node prints when the queue is empty.
type nodeTold struct {
	Done int64   `json:"done"`
	CPU  float64 `json:"cpu_seconds"`
}

// actAsNode works off the queue that the environment names, if it names one.
func actAsNode(ctx context.Context) (acted bool, err error) {
	fields := strings.Fields(os.Getenv(nodeEnv))
	if len(fields) != 2 {
		return false, nil
	}
	workers, err := strconv.Atoi(fields[0])
	if err != nil {
		return true, err
	}
	q, err := openQueue(ctx, fields[1])
	if err != nil {
		return true, err
	}
	defer q.db.Close() //nolint:errcheck // nothing of it is needed any more
	done, err := q.drain(ctx, workers)
	if err != nil {
		return true, err
	}
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return true, err
	}
	t := nodeTold{Done: done, CPU: seconds(used.Utime) + seconds(used.Stime)}
	return true, json.NewEncoder(os.Stdout).Encode(t)
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

// workOnNodes measures claim and completion on Postgres by several nodes, each a process of its own with as many workers,
// and what processor time nodes and machine spent: together they say what the limit is.
func workOnNodes(ctx context.Context, b *bench, p place) error {
	if p.name != "postgres" {
		return nil // one process has a file
	}
	s := b.size.queue
	for _, nodes := range s.nodes {
		url, drop, err := scratchDatabase(ctx, b.admin)
		if err != nil {
			return err
		}
		err = b.nodes(ctx, place{name: p.name, url: url}, nodes)
		drop()
		if err != nil {
			return fmt.Errorf("%d nodes: %w", nodes, err)
		}
	}
	return nil
}

func (b *bench) nodes(ctx context.Context, p place, nodes int) error {
	s := b.size.queue
	q, err := b.furnishedQueue(ctx, p, s.agents)
	if err != nil {
		return err
	}
	if _, err := q.add(ctx, s.callers, s.work, "work"); err != nil {
		return joinClose(err, q.db)
	}
	if err := q.db.Close(); err != nil {
		return err
	}
	busy, err := machineTime()
	if err != nil {
		return err
	}
	outs := make([]bytes.Buffer, nodes)
	began := time.Now()
	err = inParallel(nodes, nodes, func(i int) error {
		self := exec.CommandContext(ctx, "/proc/self/exe")
		self.Env = append(os.Environ(), fmt.Sprintf("%s=%d %s", nodeEnv, s.workers, p.url))
		self.Stdout, self.Stderr = &outs[i], os.Stderr
		return self.Run()
	})
	took := time.Since(began)
	if err != nil {
		return err
	}
	after, err := machineTime()
	if err != nil {
		return err
	}
	var done int64
	var cpu float64
	for i := range outs {
		var t nodeTold
		if err := json.Unmarshal(outs[i].Bytes(), &t); err != nil {
			return fmt.Errorf("read a node's figures: %w", err)
		}
		done, cpu = done+t.Done, cpu+t.CPU
	}
	if done != int64(s.work) {
		return fmt.Errorf("%d runs were completed, want each of %d once", done, s.work)
	}
	n := float64(done)
	l := Load{Ops: int(done), Seconds: took.Seconds(), PerSecond: n / took.Seconds(), CPU: 1000 * cpu / n}
	b.add(Result{
		Name: fmt.Sprintf("%s on %d nodes", nameWork, nodes), Database: p.name, Callers: nodes * s.workers, Load: &l,
		Note: fmt.Sprintf("nodes %.2f ms and the rest of the machine %.2f ms of processor time a run; %.0f %% of the machine was busy",
			1000*cpu/n, 1000*(after.busy-busy.busy-cpu)/n, 100*(after.busy-busy.busy)/(after.all-busy.all)),
	})
	return nil
}
