package workspace

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

// guard is the warden's life: it returns when the tree is dead or cannot be killed.
func (w *warden) guard() {
	term := make(chan os.Signal, 1)
	signal.Notify(term, syscall.SIGTERM)
	tick := time.NewTicker(wardenTick)
	defer tick.Stop()
	w.pace(tick)
	orders := w.orders
	for {
		select {
		case <-w.empty:
			w.settle(CauseExited)
			return
		case d := <-w.died:
			w.died <- d
			w.leftovers()
			w.settle(CauseExited)
			return
		case <-term:
			w.kill(CauseKilled)
			return
		case o, ok := <-orders:
			if !ok {
				w.kill(CauseOrphaned)
				return
			}
			switch o.Kind {
			case orderKill:
				w.kill(o.Cause)
				return
			case orderTerm:
				_ = syscall.Kill(-w.pid, syscall.SIGTERM)
			case orderDeadline:
				w.deadline = o.Deadline
				w.pace(tick)
			}
		case <-tick.C:
			if w.overdue(BootTime()) {
				w.kill(CauseDeadline)
				return
			}
			if w.memory > 0 && treeMemory(os.Getpid()) > w.memory {
				w.kill(CauseMemory)
				return
			}
		}
	}
}

// overdue reports whether the deadline has passed at an instant of [BootTime], which goes on while the machine sleeps and
// which nobody sets. Without a deadline no sleep is too long.
func (w *warden) overdue(now time.Duration) bool { return w.deadline > 0 && now >= w.deadline }

// pace stops the clock of a warden that has nothing to watch: an idle tree costs no wake-ups.
func (w *warden) pace(t *time.Ticker) {
	if w.deadline > 0 || w.memory > 0 {
		t.Reset(wardenTick)
		return
	}
	t.Stop()
}

// leftovers ends what the command left behind, politely for a moment.
func (w *warden) leftovers() {
	select {
	case <-w.empty: // the common case: nothing is left
		return
	case <-time.After(20 * time.Millisecond):
	}
	for _, m := range descendants(os.Getpid()) {
		m.signal(syscall.SIGTERM)
	}
	select {
	case <-w.empty:
	case <-time.After(wardenPatience):
		w.slay()
	}
}

// kill ends the whole tree at once.
func (w *warden) kill(cause Cause) {
	w.slay()
	w.settle(cause)
}

// slay kills until no child is left. Members that start others while they are killed are found in the next pass.
func (w *warden) slay() {
	_ = syscall.Kill(-w.pid, syscall.SIGKILL)
	bound := time.After(killBound)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		for _, m := range descendants(os.Getpid()) {
			m.signal(syscall.SIGKILL)
		}
		select {
		case <-w.empty:
			return
		case <-bound:
			return
		case <-time.After(pause):
		}
	}
}

// settle writes down how it ended.
func (w *warden) settle(cause Cause) {
	w.exit.Cause = cause
	select {
	case d := <-w.died:
		w.exit.Code, w.exit.Signal = d.code, d.signal
	default:
	}
	select {
	case <-w.empty:
		w.exit.Clean = true
	default:
	}
}
