package control

import (
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/catalog"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// projectLabel is how a label says that its task belongs to a project.
const projectLabel = "project:"

// budgetsOver returns the ids of the budgets that count a run, by id. In a workspace without budgets it asks nothing.
// keep says which meters matter; nil = all.
func budgetsOver(tx *store.ReadTx, f *catalog.Facts, t *fairlead.Task, run *fairlead.Run, keep func(policy.Meter) bool) ([]string, error) {
	if len(f.Budgets) == 0 {
		return nil, nil
	}
	s := policy.Subject{Agent: run.Agent, Task: t.ID, Assignment: run.Assignment}
	for _, l := range t.Labels {
		if key, ok := strings.CutPrefix(l, projectLabel); ok {
			s.Projects = append(s.Projects, key)
		}
	}
	if t.Parent != "" && slices.ContainsFunc(f.Budgets, func(b policy.Budget) bool { return b.Scope == policy.ScopeTask }) {
		var err error
		if s.Ancestors, err = tx.Ancestors(t.ID); err != nil {
			return nil, err
		}
	}
	var ids []string
	for i := range f.Budgets {
		if b := &f.Budgets[i]; b.Covers(s) && (keep == nil || keep(b.Meter)) {
			ids = append(ids, b.ID)
		}
	}
	return ids, nil
}

// stopping keeps the meters that stop a live run: how many runs there may be says nothing about one that is under way.
func stopping(m policy.Meter) bool { return m != policy.MeterRuns }

// budget holds a run while a budget over it is used up, also one that a person launches.
func (g *gate) budget() ([]fairlead.Hold, error) {
	ids, err := budgetsOver(g.tx, g.facts, &g.task.Task, &g.run, nil)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	budgets, err := g.budgets(ids)
	if err != nil {
		return nil, err
	}
	var holds []fairlead.Hold
	for i := range budgets {
		b := &budgets[i]
		if c := policy.CheckBudgets(policy.CheckClaim, []*policy.Standing{b.Standing()}); !c.Hold {
			continue
		}
		h := policy.Hold(fairlead.HoldBudget, b.ID)
		h.Until = fairlead.StampPtr(b.Span.End)
		h.Data = map[string]any{
			"scope": b.Scope, "ref": b.Ref, "meter": b.Meter, "period": b.Period, "limit": b.Limit, "spent": b.Spent, "text": b.Standing().Text(),
		}
		holds = append(holds, h)
	}
	return holds, nil
}

// budgets reads budgets, of one look each only once.
func (g *gate) budgets(ids []string) ([]store.Budget, error) {
	if g.limits == nil {
		return g.tx.BudgetsIn(ids)
	}
	var out []store.Budget
	var missing []string
	for _, id := range ids {
		if b, known := g.limits[id]; known {
			out = append(out, b)
		} else {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	fresh, err := g.tx.BudgetsIn(missing)
	for _, b := range fresh {
		g.limits[b.ID] = b
	}
	return append(out, fresh...), err
}
