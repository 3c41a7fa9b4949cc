package control

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/store"
)

// maxCharge bounds one charge, so that no report makes a sum overflow.
const maxCharge = 1 << 50

// usageFact is what a worker reports of one model call. Delta is what the call adds; a cost that is missing is unknown,
// which is not zero.
type usageFact struct {
	Model string `json:"model"`
	Delta struct {
		Calls      int64  `json:"calls"`
		Input      int64  `json:"input"`
		Output     int64  `json:"output"`
		CacheRead  int64  `json:"cache_read"`
		CacheWrite int64  `json:"cache_write"`
		Cost       *int64 `json:"cost"`
	} `json:"delta"`
}

// used sums a recorded model call and charges it to every budget over the run. The call stands, whatever they say.
func (w *work) used(r *fairlead.Run, data json.RawMessage) error {
	var fact usageFact
	if err := json.Unmarshal(data, &fact); err != nil {
		return fairlead.Errorf(fairlead.CodeInvalid, "the usage of a model call is not one").WithHint("send model and delta, with whole numbers")
	}
	d := &fact.Delta
	u := fairlead.Usage{
		Workspace: r.Workspace, Run: r.ID, Model: fact.Model, Day: w.tx.Now().UTC().Format(time.DateOnly), Agent: r.Agent, Task: r.Task,
		Assignment: r.Assignment, Calls: bounded(d.Calls), Input: bounded(d.Input), Output: bounded(d.Output), CacheRead: bounded(d.CacheRead),
		CacheWrite: bounded(d.CacheWrite),
	}
	if u.Model == "" {
		model, err := w.modelOf(r)
		if err != nil {
			return err
		}
		u.Model = model
	}
	spend := policy.Spend{Tokens: u.Input + u.Output + u.CacheRead + u.CacheWrite}
	cost, known := w.c.cost(&u, d.Cost)
	if known {
		spend.Money = bounded(cost)
	} else if u.Calls > 0 || spend.Tokens > 0 {
		spend.Unpriced = max(u.Calls, 1)
	}
	u.Money, u.Unpriced = spend.Money, spend.Unpriced
	if err := w.tx.AddUsage(u); err != nil {
		return err
	}
	return w.charge(r, spend)
}

func bounded(n int64) int64 { return min(max(n, 0), maxCharge) }

// modelOf is the model a run's agent is configured with.
func (w *work) modelOf(r *fairlead.Run) (string, error) {
	f, err := w.facts()
	if err != nil {
		return "", err
	}
	return f.Profiles[r.Agent].Model, nil
}

// cost is what a call cost, in millionths of a US dollar: as the provider said, else by the price list.
func (c *Control) cost(u *fairlead.Usage, told *int64) (cost int64, known bool) {
	if told != nil {
		return *told, true
	}
	p, known := c.prices[u.Model]
	if !known {
		return 0, false
	}
	const million = 1_000_000
	sum := 0.0
	for _, part := range [][2]int64{{u.Input, p.Input}, {u.Output, p.Output}, {u.CacheRead, p.CacheRead}, {u.CacheWrite, p.CacheWrite}} {
		sum += float64(part[0]) * float64(part[1]) / million
	}
	return int64(min(sum+0.5, maxCharge)), true
}

// charge adds to every budget over a run what it spent, tells of the thresholds that this crosses, and asks at a limit.
func (w *work) charge(r *fairlead.Run, s policy.Spend) error {
	f, err := w.facts()
	if err != nil {
		return err
	}
	ids, err := budgetsOver(&w.tx.ReadTx, f, &w.task.row.Task, r, func(m policy.Meter) bool {
		return s.Of(m) > 0 || m == policy.MeterMoney && s.Unpriced > 0
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		i := slices.IndexFunc(f.Budgets, func(b policy.Budget) bool { return b.ID == id })
		var unpriced int64
		if f.Budgets[i].Meter == policy.MeterMoney {
			unpriced = s.Unpriced
		}
		amount := min(s.Of(f.Budgets[i].Meter), maxCharge)
		b, err := w.tx.ChargeBudget(id, amount, unpriced)
		if fairlead.IsCode(err, fairlead.CodeNotFound) {
			continue // deleted since the facts were read
		}
		if err != nil {
			return err
		}
		w.charged(&b, amount)
		if err := w.weighBudget(&b); err != nil {
			return err
		}
	}
	return nil
}

// weighBudget tells of every threshold that a budget has reached and nobody was told of, and asks people at its limit.
// The budget's row is locked.
func (w *work) weighBudget(b *store.Budget) error {
	s := b.Standing()
	if len(s.Alerts(func(string) bool { return false })) > 0 {
		known, err := w.tx.BudgetAlerts(b)
		if err != nil {
			return err
		}
		told := map[string]bool{}
		for _, t := range known {
			told[policy.Alert{Budget: b.ID, Generation: b.Generation, Threshold: t, Period: b.Span.Key}.Key()] = true
		}
		for _, a := range s.Alerts(func(key string) bool { return told[key] }) {
			if err := w.alert(b, a); err != nil {
				return err
			}
		}
	}
	if c := policy.CheckBudgets(policy.CheckCall, []*policy.Standing{s}); len(c.Ask) == 0 {
		return nil
	}
	return w.askBudget(b)
}
