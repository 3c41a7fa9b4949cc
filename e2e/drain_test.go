package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
)

// draining waits until the server says that it drains.
func (s *server) draining() {
	s.t.Helper()
	poll(s.t, "the drain", deadline, func() bool { return strings.Contains(s.log.String(), "draining") })
}

// SIGTERM: a live run may finish; the server claims nothing new meanwhile, then ends well.
func TestDrain_RunFinishes(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	s := start(t, options{})
	s.agent("busy", g.waits(""))
	s.agent("calm", says)
	s.save(oneStep("busy"))
	task := s.task("one")
	g.here(1)
	s.signal(syscall.SIGTERM)
	s.draining()
	g.open()
	<-s.gone
	if s.code != 0 {
		t.Errorf("exit code %d", s.code)
	}
	s = s.again(options{})
	runs := must(s.client.TaskRuns(t.Context(), task.ID))(t)
	if v := s.show(task.ID); v.Step != "done" || len(runs) != 1 || runs[0].Attempt != 0 || runs[0].Status != fairlead.RunSucceeded {
		t.Errorf("at %s, runs %s", v.Step, asJSON(t, runs))
	}
}

// SIGTERM with a drain that is too short: the run is handed back without burning an attempt and goes on at the next
// start; its tree is dead.
func TestDrain_RunIsHandedBack(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	s := start(t, options{args: []string{"--drain", "200ms"}})
	s.agent("busy", g.waits(""))
	s.save(oneStep("busy"))
	task := s.task("one")
	g.here(1)
	s.signal(syscall.SIGTERM)
	<-s.gone
	if left := s.marked(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
	s = s.again(options{})
	g.here(2)
	if n := g.count("overlap"); n > 0 {
		t.Errorf("%d trees lived on", n)
	}
	g.open()
	s.at(task.ID, "done")
	runs := must(s.client.TaskRuns(t.Context(), task.ID))(t)
	if len(runs) != 1 || runs[0].Attempt != 0 {
		t.Errorf("runs: %s", asJSON(t, runs))
	}
}

// A second signal ends the server at once; the wardens end the trees.
func TestDrain_SecondSignalIsImmediate(t *testing.T) {
	t.Parallel()
	g := newGate(t)
	s := start(t, options{args: []string{"--drain", "10m"}})
	s.agent("busy", g.waits(""))
	s.save(oneStep("busy"))
	task := s.task("one")
	g.here(1)
	s.signal(syscall.SIGTERM)
	s.draining()
	began := time.Now()
	s.signal(syscall.SIGTERM)
	select {
	case <-s.gone:
	case <-time.After(5 * time.Second):
		t.Fatal("the second signal did not end it")
	}
	t.Logf("ended %v after the second signal", time.Since(began).Round(time.Millisecond))
	poll(t, "the end of the tree", 5*time.Second, func() bool { return len(s.marked()) == 0 })
	s = s.again(options{})
	g.here(2)
	g.open()
	s.at(task.ID, "done")
}
