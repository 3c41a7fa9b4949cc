package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead/fairlead/client"
)

// build makes the binary as a release has it and returns its path.
func build(ctx context.Context, dir string) (string, error) {
	bin := filepath.Join(dir, "fairlead")
	c := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags", "-s -w", "-o", bin,
		"github.com/fairlead/fairlead/cmd/fairlead")
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build fairlead: %w\n%s", err, out)
	}
	return bin, nil
}

// server is a running binary on a home of its own.
type server struct {
	cmd    *exec.Cmd
	home   string
	addr   string
	token  string
	client *client.Client
	log    *bytes.Buffer
	ready  time.Duration // from the start of the process to the first good answer of /readyz
}

const (
	startLimit = 60 * time.Second
	stopLimit  = 20 * time.Second
)

// serve starts the binary on a home. database is "" for the home's SQLite file.
func serve(ctx context.Context, bin, home, database string, workers int) (*server, error) {
	args := []string{"serve", "--home", home, "--addr", "127.0.0.1:0", "--workers", strconv.Itoa(workers), "--drain", "1s"}
	if database != "" {
		args = append(args, "--database", database)
	}
	s := &server{cmd: exec.CommandContext(ctx, bin, args...), home: home, log: &bytes.Buffer{}}
	s.cmd.Stderr = s.log
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = stopLimit
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start fairlead: %w", err)
	}
	if err := s.meet(ctx, bufio.NewScanner(out), began); err != nil {
		return nil, errors.Join(fmt.Errorf("start fairlead: %w\n%s", err, s.log), s.stop())
	}
	return s, nil
}

// meet waits for the line that says where the server listens, and for its readiness.
func (s *server) meet(ctx context.Context, lines *bufio.Scanner, began time.Time) error {
	if !lines.Scan() {
		return errors.New("it said nothing")
	}
	_, rest, ok := strings.Cut(lines.Text(), "http://")
	if !ok {
		return fmt.Errorf("it said %q", lines.Text())
	}
	s.addr, _, _ = strings.Cut(rest, " ")
	token, err := os.ReadFile(filepath.Join(s.home, "token"))
	if err != nil {
		return err
	}
	s.token = strings.TrimSpace(string(token))
	if s.client, err = client.New("http://"+s.addr, s.token, nil); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	if err := s.client.Ready(limited); err != nil {
		return err
	}
	s.ready = time.Since(began)
	return nil
}

// rss is the memory the process holds, in MiB.
func (s *server) rss() (float64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024, err
		}
	}
	return 0, errors.New("the system does not say how much memory a process holds")
}

// cpu is the processor time the process has spent.
func (s *server) cpu() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(b), ") ") // the name before may hold spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, errors.New("the system does not say what a process spends")
	}
	var ticks int64
	for _, f := range fields[11:13] { // user and system time, in hundredths of a second
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}

// stop ends the server and waits for it.
func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	timer := time.AfterFunc(stopLimit, func() { _ = s.cmd.Process.Kill() })
	defer timer.Stop()
	if err := s.cmd.Wait(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGTERM {
			return nil
		}
		return fmt.Errorf("stop fairlead: %w\n%s", err, s.log)
	}
	return nil
}
