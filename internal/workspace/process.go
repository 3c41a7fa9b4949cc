package workspace

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead/fairlead"
)

// Launcher starts process trees of one home.
type Launcher struct {
	home  string
	self  []string
	count atomic.Int64
	leash leash
}

// LauncherOptions change how wardens are started.
type LauncherOptions struct {
	// Self is the command that runs [WardenMain]. The default is this very program with the argument "_warden".
	Self []string
}

// NewLauncher takes the home's marker: a text that no other home bears.
func NewLauncher(home string, opts *LauncherOptions) *Launcher {
	l := &Launcher{home: home, self: []string{selfExe(), "_warden"}}
	if opts != nil && len(opts.Self) > 0 {
		l.self = opts.Self
	}
	return l
}

// Spec is what to run. The environment starts empty: see [EnvExecution] and the allowlist.
type Spec struct {
	Execution string // marker of the tree
	Command   []string
	Dir       string
	Env       []string // "NAME=value"
	Inherit   []string // names of our own variables to pass on beside the allowlist

	Deadline    time.Duration // instant of [BootTime] at which the tree is killed; 0 means never
	Memory      int64         // resident bytes of the whole tree; more kills it; 0 means no limit
	OutputLimit int64         // bytes of one stream written to Stdout or Stderr; more kills the tree; 0 means no limit

	// Writable, when it is not empty, is where the tree may write: below these paths and to the devices, by Landlock.
	// Where the kernel has none the tree runs unconfined and [Process.Confined] says so. Reading is not limited.
	Writable []string

	// Stdin is read to its end when set, else [Process.Stdin] is a pipe.
	Stdin io.Reader
	// Stdout and Stderr take the output when set, else the process has pipes that the caller must read.
	Stdout, Stderr io.Writer
	// Merge sends standard error where standard output goes, in the order of writing; Stderr is not used then.
	Merge bool
}

// Process is a living tree: a command and everything it started, under its warden.
type Process struct {
	Pid      int            // of the command
	Confined bool           // the tree cannot write outside Spec.Writable
	Stdin    io.WriteCloser // nil when the spec has one
	Stdout   io.ReadCloser  // nil when the spec has one
	Stderr   io.ReadCloser  // nil as well when the two are merged

	mark    string // in the environment of this tree alone
	warden  *exec.Cmd
	orders  *os.File
	sendMu  sync.Mutex
	reports *os.File
	status  *json.Decoder
	copies  sync.WaitGroup
	readers []*os.File // ends of pipes that this side copies from
	done    chan struct{}
	exit    Exit // readable after done
}

// Exit says how a tree ended.
type Exit struct {
	Code   int    // exit code of the command, -1 without one
	Signal string // name of the signal that ended the command, "" without one
	Cause  Cause
	Clean  bool // the whole tree is confirmed dead
}

// Cause says why a tree ended.
type Cause string

// The causes.
const (
	CauseExited   Cause = "exited"   // the command ended by itself, or by a polite signal
	CauseKilled   Cause = "killed"   // we killed the tree
	CauseDeadline Cause = "deadline" // the deadline passed
	CauseMemory   Cause = "memory"   // the tree grew over its limit
	CauseOutput   Cause = "output"   // the tree wrote more than its limit
	CauseOrphaned Cause = "orphaned" // the server was gone; nobody sees this but tests
	CauseLost     Cause = "lost"     // the warden died alone; the tree was swept by its marker
)

// Start runs a command under a warden and returns when it runs. ctx bounds the start only. A command that cannot be
// started is a *fairlead.Failure of class configuration.
func (l *Launcher) Start(ctx context.Context, spec Spec) (*Process, error) {
	if len(spec.Command) == 0 || spec.Execution == "" {
		return nil, fairlead.Errorf(fairlead.CodeInvalid, "a process needs a command and a marker").WithOp("start process")
	}
	leashed := spec.Deadline == 0
	if leashed {
		if err := l.leash.lend(&spec); err != nil {
			return nil, err
		}
	}
	mark := fmt.Sprintf("%s.%d.%d", spec.Execution, os.Getpid(), l.count.Add(1))
	env := environment(spec.Inherit, spec.Env, spec.Execution, l.home, mark)
	path, err := resolve(spec.Command[0], spec.Dir, env)
	if err != nil {
		return nil, err
	}
	p := &Process{mark: mark, done: make(chan struct{})}
	if err := p.spawn(l, &spec); err != nil {
		p.closeAll()
		return nil, fmt.Errorf("start warden: %w", err)
	}
	o := order{Path: path, Command: spec.Command, Dir: spec.Dir, Env: env,
		Deadline: spec.Deadline, Memory: spec.Memory, Writable: spec.Writable}
	if err := p.await(ctx, o); err != nil {
		p.abandon()
		return nil, err
	}
	if leashed {
		l.leash.take(p, spec.Deadline)
	}
	go func() {
		p.watch()
		l.leash.loose(p)
	}()
	return p, nil
}

// await sends the order and waits for the first word of the warden.
func (p *Process) await(ctx context.Context, o order) error {
	stop := context.AfterFunc(ctx, func() { _ = p.reports.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	if err := p.send(o); err != nil {
		return fmt.Errorf("instruct warden: %w", err)
	}
	var first report
	err := p.status.Decode(&first)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("start process: %w", ctx.Err())
	case err != nil:
		return &fairlead.Failure{Class: fairlead.ClassTransient, Message: "the warden died before it started the command"}
	case first.Error != "":
		return &fairlead.Failure{Class: fairlead.ClassConfiguration, Message: "start " + o.Command[0] + ": " + first.Error}
	}
	p.Pid, p.Confined = first.Started, first.Sandbox
	return nil
}

// send writes one order to the warden.
func (p *Process) send(o order) error {
	line, err := json.Marshal(o)
	if err != nil {
		return err
	}
	p.sendMu.Lock()
	defer p.sendMu.Unlock()
	_, err = p.orders.Write(append(line, '\n'))
	return err
}

// SetDeadline moves the instant of [BootTime] at which the tree is killed; 0 takes it away. A tree that has ended
// meanwhile is no error.
func (p *Process) SetDeadline(at time.Duration) error {
	err := p.send(order{Kind: orderDeadline, Deadline: at})
	if err != nil && p.ended() {
		return nil
	}
	return err
}
