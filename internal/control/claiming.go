package control

import (
	"slices"
	"sync"

	"github.com/fairlead/fairlead"
)

// claiming keeps claims of one process that are under way at once out of each other's way: while one call is taking a run,
// others look at other agents' runs first. They would only meet at a lock.
type claiming struct {
	mu     sync.Mutex
	agents []string
	left   chan struct{} // closed when the next call is done; nil = nobody waits
}

// pick lets one call at a time look for a run, and notes the run's agent until leave. A call that finds nothing while
// others are taking runs waits for one of them: what it leaves, or what it frees by missing, may be another's.
func (c *claiming) pick(p *claimPass, look func() (*fairlead.Run, error)) (run *fairlead.Run, leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		p.others = slices.Clone(c.agents)
		run, err = look()
		if err != nil {
			return nil, nil, err
		}
		if run != nil {
			break
		}
		if len(p.others) == 0 {
			return nil, nil, nil
		}
		c.wait()
		*p = newPass(p.node)
	}
	key := agentKey(run)
	c.agents = append(c.agents, key)
	return run, func() { c.leave(key) }, nil
}

// wait waits until a call is done; the lock is given up meanwhile.
func (c *claiming) wait() {
	if c.left == nil {
		c.left = make(chan struct{})
	}
	left := c.left
	c.mu.Unlock()
	<-left
	c.mu.Lock()
}

func (c *claiming) leave(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.agents, key); i >= 0 {
		c.agents = slices.Delete(c.agents, i, i+1)
	}
	if c.left != nil {
		close(c.left)
		c.left = nil
	}
}

func agentKey(r *fairlead.Run) string { return r.Workspace + "/" + r.Agent }
