package workspace_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workspace"
)

// The test binary is its own warden, and its own server for the tests that kill one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "_warden" {
		os.Exit(workspace.WardenMain(os.Args[2:]))
	}
	if len(os.Args) == 4 && os.Args[1] == "_server" {
		serve(os.Args[2], os.Args[3])
	}
	os.Exit(m.Run())
}

// wild is a command whose descendants do what they can to get away: a new session, no hang-up signal, a cleared
// environment, a double fork. It says "ready" with their pids when all of them live.
const wild = `
d=$(mktemp -d); export d
setsid nohup sh -c 'echo $$ >$d/1; exec sleep 3001' >/dev/null 2>&1 &
(setsid env -i d=$d /bin/sh -c 'trap "" TERM HUP; echo $$ >$d/2; exec sleep 3002' >/dev/null 2>&1 &)
setsid sh -c 'setsid nohup sh -c "echo \$\$ >\$d/3; exec sleep 3003" >/dev/null 2>&1 & exit 0'
trap "" TERM
while ! [ -s $d/1 -a -s $d/2 -a -s $d/3 ]; do :; done
p=$(cat $d/1 $d/2 $d/3)
rm -r $d
echo ready $p
`

func serve(home, execution string) {
	l := workspace.NewLauncher(home, nil)
	_, err := l.Start(context.Background(), workspace.Spec{Execution: execution,
		Command: []string{"sh", "-c", wild + "sleep 3000"}, Stdout: os.Stdout, Stderr: os.Stderr})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	select {}
}

func name(t *testing.T) string {
	return strings.NewReplacer("/", "_", " ", "_").Replace(t.Name()) + fmt.Sprint(time.Now().UnixNano())
}

func start(t *testing.T, spec workspace.Spec) *workspace.Process {
	t.Helper()
	if spec.Execution == "" {
		spec.Execution = name(t)
	}
	p, err := workspace.NewLauncher("home-"+spec.Execution, nil).Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := p.Stop(context.Background(), workspace.StopPlan{}); err != nil {
			t.Error(err)
		}
	})
	return p
}

func until(t *testing.T, bound time.Duration, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(bound); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, bound)
		}
		pause := time.NewTimer(5 * time.Millisecond)
		<-pause.C
	}
}

func wait(t *testing.T, p *workspace.Process) workspace.Exit {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	x, err := p.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// ready waits for the word of a wild command and returns the pids of those that try to get away.
func ready(t *testing.T, r io.Reader) []int {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	pids := make([]int, 3)
	if _, serr := fmt.Sscanf(line, "ready %d %d %d\n", &pids[0], &pids[1], &pids[2]); serr != nil {
		t.Fatalf("got %q, %v, %v", line, err, serr)
	}
	return pids
}

// dead checks that none of them lives and none bears the marker.
func dead(t *testing.T, execution string, pids []int) {
	t.Helper()
	if left := workspace.Marked(execution); len(left) > 0 {
		t.Errorf("marked and alive: %v", left)
	}
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.HasPrefix(string(stat), "sleep\x00300") {
			t.Errorf("process %d is alive: %q", pid, stat)
		}
	}
}

func TestStreamsAndExitCode(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	p := start(t, workspace.Spec{Command: []string{"sh", "-c", "cat; echo bad >&2; exit 7"}, Stdin: strings.NewReader("in"),
		Stdout: &out, Stderr: &errs})
	x := wait(t, p)
	if x.Code != 7 || x.Cause != workspace.CauseExited || !x.Clean {
		t.Errorf("got %+v", x)
	}
	if out.String() != "in" || errs.String() != "bad\n" {
		t.Errorf("got %q and %q", out.String(), errs.String())
	}
}

func TestA15_EnvironmentIsEmptyPlusAllowlist(t *testing.T) {
	t.Setenv("SECRET_KEY", "hush")
	t.Setenv("WANTED", "yes")
	var out strings.Builder
	p := start(t, workspace.Spec{Execution: "env-test", Command: []string{"env"}, Inherit: []string{"WANTED"},
		Env: []string{"MINE=1", "FAIRLEAD_EXECUTION=forged"}, Stdout: &out})
	wait(t, p)
	for _, want := range []string{"WANTED=yes", "MINE=1", "PATH=", "FAIRLEAD_EXECUTION=env-test", "FAIRLEAD_HOME_ID=home-env-test"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in %q", want, out.String())
		}
	}
	if strings.Contains(out.String(), "SECRET_KEY") || strings.Contains(out.String(), "WARDEN") {
		t.Errorf("got %q", out.String())
	}
}

func TestStartFailureNamesTheCommand(t *testing.T) {
	t.Parallel()
	for _, cmd := range []string{"no-such-program-here", "/etc/hostname", "./missing"} {
		_, err := workspace.NewLauncher("h", nil).Start(t.Context(), workspace.Spec{Execution: name(t), Command: []string{cmd}, Dir: t.TempDir()})
		var f *fairlead.Failure
		if !errors.As(err, &f) || f.Class != fairlead.ClassConfiguration || !strings.Contains(f.Message, strings.TrimPrefix(cmd, ".")) {
			t.Errorf("%s: got %v", cmd, err)
		}
	}
	_, err := workspace.NewLauncher("h", nil).Start(t.Context(), workspace.Spec{Execution: name(t), Command: []string{"true"}, Dir: "/nonexistent"})
	if err == nil {
		t.Error("a missing directory passed")
	}
}

func TestA23_StopKillsTheWholeTree(t *testing.T) {
	t.Parallel()
	for _, plan := range []workspace.StopPlan{{}, {Close: 50 * time.Millisecond, Term: 50 * time.Millisecond}} {
		exec := name(t)
		p := start(t, workspace.Spec{Execution: exec, Command: []string{"sh", "-c", wild + "sleep 3000"}})
		pids := ready(t, p.Stdout)
		if n := len(workspace.Marked(exec)); n < 4 { // warden, shell, two or more sleeps
			t.Errorf("only %d marked processes: the test shows nothing", n)
		}
		began := time.Now()
		x, err := p.Stop(t.Context(), plan)
		if err != nil || !x.Clean || x.Cause != workspace.CauseKilled {
			t.Errorf("got %+v, %v", x, err)
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("took %v", d)
		}
		dead(t, exec, pids)
	}
}

func TestA23_NothingOutlivesACommandThatEnds(t *testing.T) {
	t.Parallel()
	exec := name(t)
	p := start(t, workspace.Spec{Execution: exec, Command: []string{"sh", "-c", wild + "exit 3"}})
	pids := ready(t, p.Stdout)
	if x := wait(t, p); x.Code != 3 || !x.Clean {
		t.Errorf("got %+v", x)
	}
	dead(t, exec, pids)
}

func TestA23_KilledServerLeavesNothing(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	id := name(t)
	server := exec.Command(exe, "_server", "home-"+id, id)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	pids := ready(t, out)
	if err := server.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = server.Wait()
	until(t, 5*time.Second, "zero marked processes", func() bool { return len(workspace.Marked(id)) == 0 })
	dead(t, id, pids)
}

func TestR38_ReapKillsTreesOfEarlierBootsBeforeItReturns(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	id := name(t)
	server := exec.Command(exe, "_server", "home-"+id, id)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	pids := ready(t, out)
	// The worst case: the wardens are stopped and cannot do their work when the server dies.
	for _, pid := range workspace.Marked(id) {
		_ = syscall.Kill(pid, syscall.SIGSTOP)
	}
	_ = server.Process.Kill()
	_ = server.Wait()
	l := workspace.NewLauncher("home-"+id, nil)
	if n, err := l.Reap(t.Context(), func(e string) bool { return e == id }); n != 0 || err != nil {
		t.Fatalf("reaped %d that it should keep, %v", n, err)
	}
	began := time.Now()
	n, err := l.Reap(t.Context(), nil)
	if err != nil || n < 3 {
		t.Errorf("got %d, %v", n, err)
	}
	dead(t, id, pids)
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestWardenDiesAlone(t *testing.T) {
	t.Parallel()
	exec := name(t)
	p := start(t, workspace.Spec{Execution: exec, Command: []string{"sh", "-c", wild + "sleep 3000"}})
	pids := ready(t, p.Stdout)
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.Pid))
	if err != nil {
		t.Fatal(err)
	}
	var warden int
	if _, err := fmt.Sscan(strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+2:]))[1], &warden); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(warden, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if x := wait(t, p); x.Cause != workspace.CauseLost || !x.Clean {
		t.Errorf("got %+v", x)
	}
	dead(t, exec, pids[:1]) // the one with a cleared environment is the stated limit: only its warden knew it
	_ = syscall.Kill(pids[1], syscall.SIGKILL)
}

func TestR10_DeadlineKillsAndCanBeMoved(t *testing.T) {
	t.Parallel()
	p := start(t, workspace.Spec{Command: []string{"sleep", "3000"}, Deadline: workspace.BootTime() + time.Hour, Stdout: io.Discard})
	if err := p.SetDeadline(workspace.BootTime() + 100*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if x := wait(t, p); x.Cause != workspace.CauseDeadline || !x.Clean {
		t.Errorf("got %+v", x)
	}
}

// TestR10_OneDeadlineForAllTrees: the end of the node's lease, which each renewal moves.
func TestR10_OneDeadlineForAllTrees(t *testing.T) {
	t.Parallel()
	l := workspace.NewLauncher("home-"+name(t), nil)
	spec := workspace.Spec{Command: []string{"sleep", "3000"}, Stdout: io.Discard, Stderr: io.Discard}
	launch := func() *workspace.Process {
		t.Helper()
		spec.Execution = name(t)
		p, err := l.Start(t.Context(), spec)
		must(t, err)
		return p
	}
	early := launch()
	l.SetDeadline(workspace.BootTime() + time.Hour)
	late := launch()
	l.SetDeadline(workspace.BootTime() + 200*time.Millisecond)
	for _, p := range []*workspace.Process{early, late} {
		if x := wait(t, p); x.Cause != workspace.CauseDeadline || !x.Clean {
			t.Errorf("got %+v, want the tree killed at the deadline", x)
		}
	}
	if _, err := l.Start(t.Context(), spec); !fairlead.IsCode(err, fairlead.CodeUnavailable) {
		t.Errorf("got %v for a start after the deadline, want it refused", err)
	}
	l.SetDeadline(0)
	_, err := launch().Stop(t.Context(), workspace.StopPlan{})
	must(t, err)
}

func TestLimits(t *testing.T) {
	t.Parallel()
	c := workspace.NewCapture(1000)
	p := start(t, workspace.Spec{Command: []string{"yes"}, Stdout: c, Stderr: io.Discard, OutputLimit: 1 << 20})
	if x := wait(t, p); x.Cause != workspace.CauseOutput {
		t.Errorf("output: got %+v", x)
	}
	if n := len(c.String()); n > 1100 {
		t.Errorf("kept %d bytes", n)
	}
	p = start(t, workspace.Spec{Command: []string{"sh", "-c", "sleep 3000 & sleep 3000"}, Memory: 1000, Stdout: io.Discard})
	if x := wait(t, p); x.Cause != workspace.CauseMemory {
		t.Errorf("memory: got %+v", x)
	}
}

func TestA2_StopLadderIsPoliteFirst(t *testing.T) {
	t.Parallel()
	for cmd, want := range map[string]string{
		"cat >/dev/null; echo eof": "eof\n",
		"trap 'echo term; kill $!; exit 0' TERM; sleep 3000 >/dev/null & wait": "term\n",
	} {
		var out strings.Builder
		p := start(t, workspace.Spec{Command: []string{"sh", "-c", "echo; " + cmd}, Stdout: &out})
		until(t, 5*time.Second, "start", func() bool { // the trap is set when the first child of the shell lives or reads
			s, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", p.Pid, p.Pid))
			return err == nil && strings.TrimSpace(string(s)) != ""
		})
		x, err := p.Stop(t.Context(), workspace.StopPlan{Close: 200 * time.Millisecond, Term: 3 * time.Second})
		if err != nil || x.Cause != workspace.CauseExited || x.Code != 0 || out.String() != "\n"+want {
			t.Errorf("%s: got %+v, %v, %q", cmd, x, err, out.String())
		}
	}
}

func TestStopIsIdempotentAndParallel(t *testing.T) {
	t.Parallel()
	p := start(t, workspace.Spec{Command: []string{"sh", "-c", "trap '' TERM; sleep 3000"}, Stdout: io.Discard})
	errs := make(chan error, 4)
	for range 4 {
		go func() {
			_, err := p.Stop(context.Background(), workspace.StopPlan{Term: 50 * time.Millisecond})
			errs <- err
		}()
	}
	for range 4 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestStopWithCancelledContextKillsAtOnce(t *testing.T) {
	t.Parallel()
	p := start(t, workspace.Spec{Command: []string{"sh", "-c", "trap '' TERM; sleep 3000"}, Stdout: io.Discard})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	began := time.Now()
	if x, err := p.Stop(ctx, workspace.StopPlan{Close: time.Minute, Term: time.Minute}); err != nil || x.Cause != workspace.CauseKilled {
		t.Errorf("got %+v, %v", x, err)
	}
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("took %v", d)
	}
}
