package workspace

import (
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// leash is the deadline that all trees of a launcher share: the end of the node's lease.
type leash struct {
	mu    sync.Mutex
	until time.Duration // 0 = none
	held  map[*Process]struct{}
}

// SetDeadline moves the instant of [BootTime] at which every tree without a deadline of its own is killed, those that
// live now and those that are started later; 0 takes it away. Once it has passed nothing more is started.
func (l *Launcher) SetDeadline(at time.Duration) {
	l.leash.mu.Lock()
	defer l.leash.mu.Unlock()
	l.leash.until = at
	for p := range l.leash.held {
		_ = p.SetDeadline(at) // a warden that cannot be told keeps its earlier deadline, or is gone
	}
}

// lend gives a start the deadline as it stands.
func (l *leash) lend(s *Spec) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.until > 0 && BootTime() >= l.until {
		return fairlead.Errorf(fairlead.CodeUnavailable, "this node has lost touch with its database; nothing is started").WithOp("start process")
	}
	s.Deadline = l.until
	return nil
}

// take puts a started tree on the leash. The deadline may have moved since it was lent.
func (l *leash) take(p *Process, lent time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = make(map[*Process]struct{})
	}
	l.held[p] = struct{}{}
	if lent != l.until {
		_ = p.SetDeadline(l.until) // as in SetDeadline
	}
}

func (l *leash) loose(p *Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, p)
}
