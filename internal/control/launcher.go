package control

import (
	"sync"

	"github.com/fairlead/fairlead"
)

// Launcher is the worker of this process, as far as control has to reach it: for what a person launches directly, and
// to tell it at once what its next report would tell it too. Its methods must not call Control and must not block.
type Launcher interface {
	// Node is the epoch the worker works in now.
	Node() Node
	// Reserve takes a slot of the node for a direct launch; false when none is free.
	Reserve() bool
	// Release gives a reserved slot back: the launch came to nothing.
	Release()
	// Launch begins the work on a claimed run in the reserved slot. It returns at once.
	Launch(*Claimed)
	// Stop says that a run was told to stop. Unknown runs are another node's.
	Stop(run string)
}

// localWorker holds the worker of this process.
type localWorker struct {
	mu       sync.RWMutex
	launcher Launcher
}

// SetLauncher makes the worker of this process known; nil takes it away. Without one nothing is launched directly.
func (c *Control) SetLauncher(l Launcher) {
	c.worker.mu.Lock()
	defer c.worker.mu.Unlock()
	c.worker.launcher = l
}

func (c *Control) launcher() Launcher {
	c.worker.mu.RLock()
	defer c.worker.mu.RUnlock()
	return c.worker.launcher
}

// tellStop passes a stop on to the worker of this process; workers elsewhere read it in the event log, and each hears it
// with its next report.
func (c *Control) tellStop(run string) {
	if l := c.launcher(); l != nil {
		l.Stop(run)
	}
}

// noWorker is the answer to a direct launch where no worker runs.
func noWorker() error {
	return fairlead.Conflict(fairlead.ReasonBusy, "this server has no worker to launch an agent").
		WithHint("queue the run with if_busy: queue, or start the server with workers")
}
