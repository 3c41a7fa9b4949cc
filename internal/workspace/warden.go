package workspace

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// order is a line from the server to the warden. The first has the command, each later one a Kind.
type order struct {
	Kind     orderKind     `json:"kind,omitempty"`
	Path     string        `json:"path,omitempty"`
	Command  []string      `json:"command,omitempty"`
	Dir      string        `json:"dir,omitempty"`
	Env      []string      `json:"env,omitempty"` // not on the command line, where everybody could read it
	Deadline time.Duration `json:"deadline,omitempty"`
	Memory   int64         `json:"memory,omitempty"`
	Writable []string      `json:"writable,omitempty"`
	Cause    Cause         `json:"cause,omitempty"`
}

type orderKind string

const (
	orderTerm     orderKind = "term"
	orderKill     orderKind = "kill"
	orderDeadline orderKind = "deadline"
)

// report is a line from the warden to the server.
type report struct {
	Started int    `json:"started,omitempty"`
	Sandbox bool   `json:"sandbox,omitempty"`
	Error   string `json:"error,omitempty"`
	Exit    *Exit  `json:"exit,omitempty"`
}

const (
	wardenPatience = 300 * time.Millisecond // between SIGTERM and SIGKILL for what a command left behind
	wardenTick     = 250 * time.Millisecond // how late a deadline or a memory limit may be seen
)

// warden is the small process above a tree. It has no goroutine that outlives main and no state on disk.
type warden struct {
	orders   chan order    // closed when the server is gone
	died     chan exitWord // the command ended
	empty    chan struct{} // closed when no child is left: since all orphans become ours, the tree is dead then
	pid      int
	deadline time.Duration
	memory   int64
	exit     Exit
}

type exitWord struct {
	code   int
	signal string
}

// WardenMain is the whole program `fairlead _warden`: main calls it before anything else when the first argument is
// "_warden", with the arguments after it, and exits with the code it returns. It starts the command that the first
// order names, adopts every orphan of the tree, and kills the tree when the command ends, when it is told to, when the
// pipe from the server closes, and when the deadline (an instant of [BootTime]) passes.
func WardenMain([]string) int {
	runtime.LockOSThread() // the parent-death signal of the command is bound to the thread that started it
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	signal.Ignore(syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE)
	reports := json.NewEncoder(os.NewFile(4, "reports"))
	lines := bufio.NewReader(os.NewFile(3, "orders"))
	first, err := readOrder(lines)
	if err != nil {
		return 1
	}
	becomeReaper()
	w := &warden{orders: make(chan order), died: make(chan exitWord, 1), empty: make(chan struct{}),
		deadline: first.Deadline, memory: first.Memory, exit: Exit{Code: -1}}
	var confined bool
	if len(first.Writable) > 0 {
		confined, err = confine(first.Writable)
	}
	if err == nil {
		err = w.start(&first)
	}
	if err != nil {
		_ = reports.Encode(report{Error: err.Error()})
		return 1
	}
	_ = reports.Encode(report{Started: w.pid, Sandbox: confined})
	go w.listen(lines)
	go w.reap()
	w.guard()
	_ = reports.Encode(report{Exit: &w.exit})
	return 0
}

func readOrder(r *bufio.Reader) (order, error) {
	var o order
	line, err := r.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	return o, err
}

// start runs the command in a group of its own and lets go of the three streams, so that their ends are the command's
// alone.
func (w *warden) start(o *order) error {
	attr := &os.ProcAttr{Dir: o.Dir, Env: o.Env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: childAttr()}
	p, err := os.StartProcess(o.Path, o.Command, attr)
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return err
	}
	w.pid = p.Pid
	_ = p.Release() // reap waits for all children itself
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return errors.Join(err, syscall.Kill(-w.pid, syscall.SIGKILL))
	}
	for fd := range 3 {
		if err := dup(int(null.Fd()), fd); err != nil {
			return errors.Join(err, syscall.Kill(-w.pid, syscall.SIGKILL))
		}
	}
	return null.Close()
}

// listen passes the server's orders on and closes the channel when the server is gone.
func (w *warden) listen(r *bufio.Reader) {
	defer close(w.orders)
	for {
		o, err := readOrder(r)
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			return
		}
		if err != nil {
			return // a server that talks nonsense is as good as gone
		}
		w.orders <- o
	}
}

// reap waits for every child, adopted ones too.
func (w *warden) reap() {
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			close(w.empty)
			return
		case pid != w.pid:
		case ws.Signaled():
			w.died <- exitWord{code: -1, signal: signalName(ws.Signal())}
		case ws.Exited():
			w.died <- exitWord{code: ws.ExitStatus()}
		}
	}
}
