package control

import (
	"fmt"
	"slices"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/catalog"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/workflow"
)

// gate is what a queued run has to pass before it is claimed, as one transaction sees it. Every hold is derived from
// facts; nothing is stored that could be forgotten.
type gate struct {
	tx    *store.ReadTx
	run   fairlead.Run
	task  *store.TaskRow
	agent fairlead.AgentProfile
	// around is what the task had when the gate was made.
	around store.Around
	step   *workflow.Step // nil when the pinned version has no such step any more
	node   *Node          // the node that wants to claim; nil = any live one
	// direct says that a person launches: the agent's limit, cool-down and settle do not count.
	direct bool
	// inLine says that a hold for a place shall tell how many tasks wait before this one, which costs a look at them.
	inLine bool
	// taken remembers the places of steps over several runs of one look; nil = ask each time.
	taken map[stepKey][]store.Place
	// standing are the holds of agent and account; ready are those among them behind which the run may go first.
	standing *[]fairlead.StandingHold
	ready    []fairlead.StandingHold
	// slotsTaken are the agent's slots, once asked for.
	slotsTaken *[]int
	// limits remembers budgets in the same way.
	limits map[string]store.Budget
	facts  *catalog.Facts
}

// stepKey names a step whose places are counted, over all versions of its workflow.
type stepKey struct{ workspace, workflow, step string }

// gate loads what decides about a run. row is the run's task.
func (c *Control) gate(tx *store.ReadTx, row *store.TaskRow, run fairlead.Run) (*gate, error) {
	// This answers two questions at once: the facts' revision comes with it.
	if _, err := tx.Around(row.Workspace, row.ID, row.Visit); err != nil {
		return nil, err
	}
	f, err := c.catalog.Facts(tx, run.Workspace)
	if err != nil {
		return nil, err
	}
	return c.gateIn(tx, f, row, run)
}

// gateIn is gate with the facts of the workspace at hand.
func (c *Control) gateIn(tx *store.ReadTx, f *catalog.Facts, row *store.TaskRow, run fairlead.Run) (*gate, error) {
	around, err := tx.Around(row.Workspace, row.ID, row.Visit)
	if err != nil {
		return nil, err
	}
	d, err := c.catalog.Definition(tx, row.Workspace, row.Workflow, row.WorkflowVersion)
	if err != nil {
		return nil, err
	}
	agent, ok := f.Profiles[run.Agent]
	if !ok {
		return nil, fmt.Errorf("load gate: agent %s is gone", run.Agent)
	}
	return &gate{tx: tx, run: run, task: row, agent: agent, around: around, step: d.Step(run.Step), facts: f}, nil
}

// holds returns every hold in force, in a fixed order.
func (g *gate) holds() ([]fairlead.Hold, error) {
	var all []fairlead.Hold
	for _, check := range g.checks() {
		holds, err := check()
		if err != nil {
			return nil, fmt.Errorf("look for holds: %w", err)
		}
		all = append(all, holds...)
	}
	return all, nil
}

// first returns one hold in force, nil if the run is free: of those that taking what a run occupies does not find.
func (g *gate) first() (*fairlead.Hold, error) {
	return firstHold([]func() ([]fairlead.Hold, error){
		g.archived, g.due, g.loop, g.paused, g.labels, g.elsewhere, g.busy, g.limited, g.cooling, g.blocked, g.request, g.budget, g.place,
	})
}

// glance is first for a candidate: its query has asked for checkout and slot already.
func (g *gate) glance() (*fairlead.Hold, error) {
	return firstHold([]func() ([]fairlead.Hold, error){g.archived, g.loop, g.paused, g.labels, g.place, g.blocked, g.request, g.budget})
}

func firstHold(checks []func() ([]fairlead.Hold, error)) (*fairlead.Hold, error) {
	for _, check := range checks {
		holds, err := check()
		if err != nil {
			return nil, fmt.Errorf("look for holds: %w", err)
		}
		if len(holds) > 0 {
			return &holds[0], nil
		}
	}
	return nil, nil
}

// checks are ordered from what costs nothing to what costs queries. busy comes before cooling: whoever sees the slot of a
// run that has ended sees the cool-down that this end began.
func (g *gate) checks() []func() ([]fairlead.Hold, error) {
	return []func() ([]fairlead.Hold, error){
		g.archived, g.due, g.loop, g.paused, g.labels, g.elsewhere, g.checkout, g.busy, g.limited, g.cooling, g.blocked, g.request, g.budget, g.place,
	}
}

func one(h fairlead.Hold) ([]fairlead.Hold, error) { return []fairlead.Hold{h}, nil }

func (g *gate) archived() ([]fairlead.Hold, error) {
	if g.task.ArchivedAt.IsZero() {
		return nil, nil
	}
	return one(policy.Hold(fairlead.HoldArchived, g.task.ID))
}

func (g *gate) due() ([]fairlead.Hold, error) {
	if g.run.Due || g.direct {
		return nil, nil
	}
	h := policy.Hold(fairlead.HoldDue, g.run.ID)
	h.Until = fairlead.StampPtr(g.run.DueAt)
	return one(h)
}

func (g *gate) loop() ([]fairlead.Hold, error) {
	if g.task.Held != fairlead.HeldLoop {
		return nil, nil
	}
	return one(policy.Hold(fairlead.HoldLoop, g.task.ID))
}

func (g *gate) paused() ([]fairlead.Hold, error) {
	if !g.agent.Paused {
		return nil, nil
	}
	h := policy.Hold(fairlead.HoldAgentPaused, g.run.Agent)
	if g.agent.PauseReason != "" {
		h.Data = map[string]any{"reason": g.agent.PauseReason}
	}
	return one(h)
}

// labels asks for a node that carries every label of the agent.
func (g *gate) labels() ([]fairlead.Hold, error) {
	if len(g.agent.Labels) == 0 {
		return nil, nil
	}
	if g.node != nil {
		if carries(g.node.Labels, g.agent.Labels) {
			return nil, nil
		}
		return one(g.unlabelled())
	}
	nodes, err := g.tx.LiveNodes()
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(nodes, func(n fairlead.Node) bool { return carries(n.Labels, g.agent.Labels) }) {
		return nil, nil
	}
	return one(g.unlabelled())
}

func (g *gate) unlabelled() fairlead.Hold {
	h := policy.Hold(fairlead.HoldNodeLabel, g.run.Agent)
	h.Data = map[string]any{"labels": g.agent.Labels}
	return h
}

func carries(node, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(l string) bool { return !slices.Contains(node, l) })
}

// checkout holds a run while another one works in the task's tree, or while the last run of its assignment still lives.
func (g *gate) checkout() ([]fairlead.Hold, error) {
	c, err := g.tx.CheckoutOf(g.task.ID)
	if err != nil {
		return nil, err
	}
	var holder string
	if c != nil && !g.run.Light {
		holder = c.Run
	}
	if holder == "" {
		if holder, err = g.tx.LiveOf(g.run.Assignment); err != nil {
			return nil, err
		}
	}
	if holder == "" || holder == g.run.ID {
		return nil, nil
	}
	h := policy.Hold(fairlead.HoldCheckout, holder)
	if c != nil {
		h.Data = map[string]any{"agent": c.Agent}
	}
	return one(h)
}

// slots returns the taken slots of the run's agent, looked up once: whoever takes one has locked the agent or meets the
// constraint.
func (g *gate) slots() ([]int, error) {
	if g.slotsTaken == nil {
		taken, err := g.tx.SlotsOf(g.run.Workspace, g.run.Agent)
		if err != nil {
			return nil, err
		}
		g.slotsTaken = &taken
	}
	return *g.slotsTaken, nil
}

func (g *gate) busy() ([]fairlead.Hold, error) {
	if g.direct || g.run.Light {
		return nil, nil
	}
	taken, err := g.slots()
	if err != nil || len(taken) < g.agent.Slots() {
		return nil, err
	}
	h := policy.Hold(fairlead.HoldAgentBusy, g.run.Agent)
	h.Data = map[string]any{"live": len(taken), "parallel": g.agent.Slots()}
	return one(h)
}

// blocked names the tasks that must end first. What a person caused passes.
func (g *gate) blocked() ([]fairlead.Hold, error) {
	if g.run.Person || !g.around.Blockers {
		return nil, nil
	}
	links, err := g.tx.ListBlockers(g.task.ID)
	if err != nil {
		return nil, err
	}
	var holds []fairlead.Hold
	for _, l := range links {
		if !linked(l, g.task.CancelledBlocker).Open {
			continue
		}
		h := policy.Hold(fairlead.HoldBlocked, l.Task)
		h.Data = map[string]any{"task": l.Task, "identifier": l.Identifier, "title": l.Title}
		holds = append(holds, h)
	}
	return holds, nil
}

// request holds the runs of a task that came back too often, and those of an assignment that waits for an answer. Every
// other open request holds moves, never runs.
func (g *gate) request() ([]fairlead.Hold, error) {
	if !g.around.Requests {
		return nil, nil
	}
	open, err := g.tx.OpenRequests(g.task.ID)
	if err != nil {
		return nil, err
	}
	var holds []fairlead.Hold
	for _, q := range open {
		if q.Assignment != g.run.Assignment && !limitsVisits(&q) {
			continue
		}
		h := policy.Hold(fairlead.HoldRequest, q.ID)
		h.Data = map[string]any{"kind": q.Kind, "prompt": q.Prompt}
		holds = append(holds, h)
	}
	return holds, nil
}

// limitsVisits reports whether a request asks if the task may be worked once more.
func limitsVisits(q *fairlead.Request) bool {
	return q.Kind == fairlead.RequestSupervise && q.Payload["purpose"] == engine.PurposeMaxVisits
}

// place asks for a place at a step that limits work in progress.
func (g *gate) place() ([]fairlead.Hold, error) {
	if g.step == nil || g.step.WIP <= 0 {
		return nil, nil
	}
	places, err := g.places()
	if err != nil {
		return nil, err
	}
	if holdsPlace(places, g.task.ID) || freePlace(places, g.step.WIP) > 0 {
		return nil, nil
	}
	h := policy.Hold(fairlead.HoldWIP, g.run.Step)
	h.Data = map[string]any{"limit": g.step.WIP}
	if g.inLine {
		n, err := g.line(places)
		if err != nil {
			return nil, err
		}
		h.Data["place"] = n
		h.Text += fmt.Sprintf("; place %d in line", n)
	}
	return one(h)
}

func (g *gate) places() ([]store.Place, error) {
	k := stepKey{g.run.Workspace, g.task.Workflow, g.run.Step}
	if places, known := g.taken[k]; known {
		return places, nil
	}
	places, err := g.tx.PlacesOf(k.workspace, k.workflow, k.step)
	if err == nil && g.taken != nil {
		g.taken[k] = places
	}
	return places, err
}

func holdsPlace(places []store.Place, task string) bool {
	return slices.ContainsFunc(places, func(p store.Place) bool { return p.Task == task })
}

// freePlace returns the smallest free number from 1 to limit, 0 for none.
func freePlace(places []store.Place, limit int) int {
	for n := 1; n <= limit; n++ {
		if !slices.ContainsFunc(places, func(p store.Place) bool { return p.N == n }) {
			return n
		}
	}
	return 0
}
