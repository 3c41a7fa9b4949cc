package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
)

type budgetCmd struct {
	List   budgetList   `cmd:"" default:"1" help:"List budgets and where they stand."`
	Set    budgetSet    `cmd:"" help:"Set a limit, or change the one of the same scope, meter and period."`
	Raise  budgetRaise  `cmd:"" help:"Raise a limit: what it stopped goes on."`
	Delete budgetDelete `cmd:"" help:"Delete a limit: what it stopped goes on."`
}

type budgetList struct{}

func (c *budgetList) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	all, err := cl.ListBudgets(e.ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, b := range all {
		state := "ok"
		switch {
		case b.Reached && b.Action == "alert":
			state = "over"
		case b.Reached:
			state = "stops"
		}
		rows = append(rows, []string{
			b.ID, budgetScope(b), b.Meter, b.Period, b.Text, strconv.Itoa(b.Percent) + " %", state, strconv.Itoa(b.Waiting), b.Request,
		})
	}
	return e.table(all, []string{"budget", "scope", "meter", "period", "spent", "used", "state", "waiting", "request"}, rows)
}

func budgetScope(b fairlead.BudgetView) string {
	switch {
	case b.Ref == "":
		return b.Scope
	case b.Scope == "task":
		return b.Scope + ":" + b.Identifier
	}
	return b.Scope + ":" + b.Ref
}

type budgetSet struct {
	Scope  string `arg:"" help:"workspace, project:KEY, agent:KEY, task:TASK or assignment:ID."`
	Limit  string `arg:"" help:"Money as 12.50, tokens and runs as whole numbers, wall time as 3h."`
	Meter  string `help:"money, tokens, runs or wall." default:"money"`
	Period string `help:"day, month or total." default:"day"`
	Zone   string `help:"Time zone of days and months, as Europe/Berlin." default:"UTC"`
	Alerts []int  `help:"Percentages at which to tell, as 50,80,100."`
	Action string `help:"What happens at the limit: park (work stops and asks), hold (it stops) or alert." default:"park"`
	Op     string `help:"Operation id."`
}

func (c *budgetSet) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	scope, ref, _ := strings.Cut(c.Scope, ":")
	return e.budget(cl.SetBudget(e.ctx, fairlead.BudgetBody{
		Scope: scope, Ref: ref, Meter: c.Meter, Limit: c.Limit, Period: c.Period, Zone: c.Zone, Alerts: c.Alerts, Action: c.Action,
		Op: fairlead.OpID(c.Op),
	}))
}

type budgetRaise struct {
	ID string `arg:"" help:"Id of the budget."`
	By string `help:"How much to add." xor:"amount" required:""`
	To string `help:"The new limit." xor:"amount" required:""`
	Op string `help:"Operation id."`
}

func (c *budgetRaise) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.budget(cl.RaiseBudget(e.ctx, c.ID, fairlead.RaiseBody{By: c.By, To: c.To, Op: fairlead.OpID(c.Op)}))
}

type budgetDelete struct {
	ID string `arg:"" help:"Id of the budget."`
	Op string `help:"Operation id."`
}

func (c *budgetDelete) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.budget(cl.DeleteBudget(e.ctx, c.ID, fairlead.OpBody{Op: fairlead.OpID(c.Op)}))
}

// budget shows the budget that a command returned.
func (e *env) budget(b fairlead.BudgetView, err error) error {
	if err != nil {
		return err
	}
	return e.show(b, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s  %s, %s: %s\n", b.ID, budgetScope(b), b.Meter, b.Period, b.Text)
	})
}
