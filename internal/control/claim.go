package control

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/catalog"
	"github.com/fairlead/fairlead/internal/store"
)

// Node is the part of a process that works on runs, in its present epoch.
type Node struct {
	ID     string
	Epoch  int64
	Labels []string
}

// claimLook is how many candidates of each agent the first look of a claim takes; each further one takes claimGrow times as
// many, so that a long queue of held runs costs a few looks and a short one only a little. No look returns more than
// claimMost times as many runs as it takes of one agent.
const (
	claimLook = 1
	claimGrow = 8
	claimMost = 16
	// claimTries is how often the first runs of the queue are tried without a look: another node may be faster, or something
	// hold them. The first try is after the very first of them; the next one looks at claimWide times as many.
	claimTries = 2
	claimFirst = 16
	claimWide  = 2
)

// Claim takes the best queued run that is due and that nothing holds, and gives it to the node with everything the work
// on it needs. nil, nil: there is none now; a commit that may have changed that wakes the dispatcher. A run that has
// nothing new to look at ends nothing_to_do on the way. A dead epoch is a conflict.
func (c *Control) Claim(ctx context.Context, n Node) (*Claimed, error) {
	if c.skewed.Load() {
		return nil, nil
	}
	pass := newPass(n)
	for {
		run, leave, err := c.claiming.pick(&pass, func() (*fairlead.Run, error) { return c.pick(ctx, &pass) })
		if err != nil || run == nil {
			return nil, err
		}
		claimed, err := c.take(ctx, n, run)
		leave()
		if err != nil && !isMiss(err) {
			return nil, fmt.Errorf("claim run: %w", err)
		}
		if claimed != nil {
			return claimed, nil
		}
		pass.missed(run, err)
	}
}

// claimPass remembers what one claim has looked at.
type claimPass struct {
	node   Node
	look   int
	tries  int            // of the first in the queue, without a look
	first  []fairlead.Run // those that are left of the last try
	runs   []string
	steps  []string // that are full
	agents []string // that this node cannot serve
	taken  bool     // the last miss was somebody else's claim
	others []string // agents of whom other calls are claiming a run
	seen   map[string]bool
}

func newPass(n Node) claimPass { return claimPass{node: n, look: claimLook} }

func (p *claimPass) skip(run string) {
	if p.seen == nil {
		p.seen = make(map[string]bool)
	}
	if !p.seen[run] {
		p.seen[run] = true
		p.runs = append(p.runs, run)
	}
}

// missed notes why a run was not claimed; a nil error means that it had nothing to do.
func (p *claimPass) missed(run *fairlead.Run, err error) {
	p.skip(run.ID)
	var e *fairlead.Error
	if !errors.As(err, &e) {
		return
	}
	held, _ := e.Data[missHeld].(bool)
	p.taken = !held
	if step, ok := e.Data[missStep].(string); ok {
		p.steps = append(p.steps, step)
		p.first = nil // others may stand before it, too
	}
}

// next takes one of the first runs of the queue: the best one, and after somebody else was faster any other, for they are
// after the second best, too. Those of an agent that was missed are left alone.
func (p *claimPass) next() *fairlead.Run {
	p.first = slices.DeleteFunc(p.first, func(r fairlead.Run) bool { return slices.Contains(p.others, agentKey(&r)) })
	if len(p.first) == 0 {
		return nil
	}
	i := 0
	if p.taken {
		i = rand.IntN(len(p.first)) //nolint:gosec // to get out of each other's way
	}
	run := p.first[i]
	p.first = slices.DeleteFunc(p.first, func(r fairlead.Run) bool { return agentKey(&r) == agentKey(&run) })
	return &run
}

func (p *claimPass) filter() store.CandidateFilter {
	return store.CandidateFilter{PerAgent: p.look, Limit: claimMost * p.look, SkipRuns: p.runs, SkipSteps: p.steps, SkipAgents: slices.Concat(p.agents, p.others),
		Home: fairlead.NodeHome(p.node.ID)}
}

// pick returns a run that looks claimable, without a lock; nil = there is none.
func (c *Control) pick(ctx context.Context, p *claimPass) (found *fairlead.Run, err error) {
	for {
		if found = p.next(); found != nil {
			return found, nil
		}
		var seen int
		err = c.db.Read(ctx, func(tx *store.ReadTx) error {
			// The first ones are most often free, and a claim looks at everything again anyway.
			if p.tries < claimTries {
				f := p.filter()
				if f.Head = claimFirst; p.tries > 0 {
					f.Head *= claimWide
				}
				p.tries++
				if p.first, err = tx.FirstCandidates(f); err != nil || len(p.first) > 0 {
					seen = len(p.first)
					return err
				}
			}
			candidates, err := tx.Candidates(p.filter())
			if err != nil {
				return err
			}
			seen = len(candidates)
			found, err = c.firstFree(tx, p, candidates)
			return err
		})
		if err != nil || found != nil || seen == 0 {
			return found, err
		}
		if len(p.first) == 0 {
			p.look *= claimGrow
		}
	}
}

// firstFree returns the first candidate that nothing holds, and marks those before it as looked at. What many runs have
// in common is read once.
func (c *Control) firstFree(tx *store.ReadTx, p *claimPass, candidates []fairlead.Run) (*fairlead.Run, error) {
	taken, limits := make(map[stepKey][]store.Place), make(map[string]store.Budget)
	facts := make(map[string]*catalog.Facts)
	for i := range candidates {
		r := &candidates[i]
		f, err := facts[r.Workspace], error(nil)
		if f == nil {
			if f, err = c.catalog.Facts(tx, r.Workspace); err != nil {
				return nil, err
			}
			facts[r.Workspace] = f
		}
		row, err := tx.LoadTask(r.Task)
		if err != nil {
			return nil, err
		}
		g, err := c.gateIn(tx, f, row, *r)
		if err != nil {
			return nil, err
		}
		g.node, g.taken, g.limits = &p.node, taken, limits
		hold, err := g.glance()
		if err != nil {
			return nil, err
		}
		if hold == nil {
			return r, nil
		}
		p.pass(r, row.Workflow, hold)
	}
	return nil, nil
}

// pass goes on to the next candidate. An agent that this node cannot serve is passed with all its runs, and so are the tasks
// that wait before a full step.
func (p *claimPass) pass(r *fairlead.Run, workflow string, hold *fairlead.Hold) {
	p.skip(r.ID)
	switch hold.Kind {
	case fairlead.HoldNodeLabel:
		p.agents = append(p.agents, agentKey(r))
	case fairlead.HoldWIP:
		p.steps = append(p.steps, r.Workspace+"/"+workflow+"/"+r.Step)
	}
}

// take claims one run, under locks. nil, nil: the run had nothing to do. The claim's random id tells after a commit of
// unknown outcome whether the run is ours.
func (c *Control) take(ctx context.Context, n Node, run *fairlead.Run) (*Claimed, error) {
	claim, err := c.newClaim()
	if err != nil {
		return nil, err
	}
	for {
		claimed, err := c.tryTake(ctx, n, run, claim)
		if !errors.Is(err, store.ErrUnknown) {
			return claimed, err
		}
	}
}

func (c *Control) tryTake(ctx context.Context, n Node, run *fairlead.Run, claim string) (claimed *Claimed, err error) {
	m := Meta{Workspace: run.Workspace, Actor: fairlead.Engine()}
	err = c.act(ctx, m, func(w *work) error {
		claimed = nil
		w.tx.Ahead(w.claimNeeds(n, run)...)
		if _, err := w.tx.LockNode(n.ID, n.Epoch); err != nil {
			return err
		}
		if err := w.lock(run.Task); err != nil {
			return err
		}
		r, agent, err := w.lockRun(run)
		if err != nil {
			return err
		}
		if r.Fence.Claim == claim && r.Status == fairlead.RunClaimed {
			claimed, err = w.claimedAgain(r, agent)
			return err
		}
		claimed, err = w.claim(r, agent, claimAs{node: n, claim: claim})
		return err
	})
	return claimed, err
}

// claimNeeds is what a claim reads before it writes anything: locks first.
func (w *work) claimNeeds(n Node, r *fairlead.Run) []store.Need {
	needs := []store.Need{
		store.NeedTask(r.Task), store.NeedAround(r.Task), store.NeedAgents(r.Workspace, r.Agent), store.NeedRuns(r.ID), store.NeedRunLine(r.ID),
	}
	return append(needs, w.gateNeeds(r)...)
}

// gateNeeds is what the gate of a run looks at, and what is loaded for whoever passes.
func (w *work) gateNeeds(r *fairlead.Run) []store.Need {
	needs := []store.Need{
		store.NeedSlots(r.Workspace, r.Agent), store.NeedSession(r.Session), store.NeedNews(r.Task, r.Session, contentPage),
		store.NeedAssignment(r.Assignment), store.NeedWakes(r.ID),
	}
	if f := w.c.catalog.Recent(r.Workspace); f != nil {
		agent := f.Profiles[r.Agent]
		needs = append(needs, store.NeedHolds(r.Workspace, agent.AccountRef(), r.Agent))
	}
	return needs
}

// lockRun locks agent and run, in this order, and returns them as they are now.
func (w *work) lockRun(run *fairlead.Run) (*fairlead.Run, fairlead.AgentProfile, error) {
	agents, err := w.tx.LockAgents(run.Workspace, run.Agent)
	if err != nil {
		return nil, fairlead.AgentProfile{}, err
	}
	runs, err := w.tx.LockRuns(run.ID)
	if err != nil {
		return nil, fairlead.AgentProfile{}, err
	}
	if len(agents) != 1 || len(runs) != 1 {
		return nil, fairlead.AgentProfile{}, miss("run")
	}
	return &runs[0], agents[0], nil
}

// newClaim makes the random half of a fence.
func (c *Control) newClaim() (string, error) {
	seed, err := c.newSeed()
	return hex.EncodeToString(seed[:]), err
}

// reasonMiss marks an error that ends one try of a claim: somebody was faster, or something holds the run by now. It
// undoes the try and is no attempt of the run.
const reasonMiss = "miss"

// What the miss of a held run carries.
const (
	missHeld = "held" // true
	missStep = "step" // "workspace/workflow/step" that is full
)

func miss(what string) *fairlead.Error { return fairlead.Conflict(reasonMiss, "the %s is taken", what) }

// missed turns a constraint's word into a miss.
func missed(err error, what string) error {
	if err != nil {
		return err
	}
	return miss(what)
}

func isMiss(err error) bool {
	var e *fairlead.Error
	return errors.As(err, &e) && e.Reason == reasonMiss
}
