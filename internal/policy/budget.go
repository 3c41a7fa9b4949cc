package policy

import (
	"slices"
	"time"

	"github.com/fairlead/fairlead"
)

// BudgetScope says whose spending a budget counts.
type BudgetScope string

// The scopes; beside each what [Budget.Ref] names.
const (
	ScopeWorkspace  BudgetScope = "workspace"  // nothing
	ScopeProject    BudgetScope = "project"    // the key of a label "project:<key>"
	ScopeAgent      BudgetScope = "agent"      // an agent
	ScopeTask       BudgetScope = "task"       // a task; its descendants count too
	ScopeAssignment BudgetScope = "assignment" // an assignment
)

// LimitAction is what a budget does at its limit.
type LimitAction string

// The actions.
const (
	LimitPark  LimitAction = "park"  // live work parks on one request to raise it; queued work is held
	LimitHold  LimitAction = "hold"  // all work is held and nobody is asked
	LimitAlert LimitAction = "alert" // nothing stops; the alerts are all there is
)

// Budget is a limit on what some scope may spend in a period.
type Budget struct {
	ID     string
	Scope  BudgetScope
	Ref    string
	Meter  Meter
	Limit  int64 // in the meter's unit, above zero
	Period Period
	Zone   string      // IANA name of the zone the period's days are of; "" = UTC
	Alerts []int       // percentages; nil = [StandardAlerts]
	Action LimitAction // "" = park
	// Generation counts the limits the budget has had, from 1. Alerts and the one open request belong to a generation.
	Generation int64
}

// StandardAlerts returns the thresholds of budgets that name none. The caller owns it.
func StandardAlerts() []int { return []int{50, 80, 100} }

// maxAlert bounds a threshold: above the limit it still tells of an overshoot.
const maxAlert = 1000

// Validate returns the first thing that is wrong with a budget, as [fairlead.CodeInvalid] with its remedy.
func (b *Budget) Validate() error {
	scoped := b.Scope != ScopeWorkspace
	switch {
	case !slices.Contains([]BudgetScope{ScopeWorkspace, ScopeProject, ScopeAgent, ScopeTask, ScopeAssignment}, b.Scope):
		return badBudget("scope", "unknown scope of a budget", "use workspace, project, agent, task or assignment")
	case scoped && b.Ref == "":
		return badBudget("ref", "the budget does not say whose spending it counts", "name the project, agent, task or assignment")
	case !scoped && b.Ref != "":
		return badBudget("ref", "a budget of the workspace counts everybody's spending", "leave the reference out, or choose another scope")
	case !slices.Contains([]Meter{MeterMoney, MeterTokens, MeterRuns, MeterWall}, b.Meter):
		return badBudget("meter", "unknown meter of a budget", "use money, tokens, runs or wall")
	case b.Limit < 1:
		return badBudget("limit", "the limit of a budget is above zero", "pause the agent where nothing may be spent at all")
	case !slices.Contains([]Period{PeriodDay, PeriodMonth, PeriodTotal}, b.Period):
		return badBudget("period", "unknown period of a budget", "use day, month or total")
	case !slices.Contains([]LimitAction{"", LimitPark, LimitHold, LimitAlert}, b.Action):
		return badBudget("action", "unknown action at the limit", "use park, hold or alert")
	case b.Generation < 1:
		return badBudget("generation", "the generation of a budget counts from 1", "begin with 1")
	}
	for _, a := range b.Alerts {
		if a < 1 || a > maxAlert {
			return badBudget("alerts", "a threshold is not a percentage", "write whole numbers from 1 to 1000, as 50, 80, 100")
		}
	}
	if _, err := time.LoadLocation(b.Zone); err != nil || b.Zone == "Local" {
		return badBudget("zone", "unknown time zone", "write an IANA name, as Europe/Berlin")
	}
	return nil
}

func badBudget(path, message, hint string) error {
	e := fairlead.Errorf(fairlead.CodeInvalid, "%s", message).WithHint("%s", hint).WithOp("check budget")
	e.Fields = []fairlead.FieldError{{Path: path, Message: message, Remedy: hint}}
	return e
}

// Raise returns the budget with a higher limit and the next generation: alerts and the request begin anew.
func (b Budget) Raise(limit int64) (Budget, error) {
	if limit <= b.Limit {
		return b, badBudget("limit", "the new limit is not above the old one", "write a higher one, or stop the work")
	}
	b.Limit = limit
	b.Generation++
	return b, nil
}

// Subject is whose spending or work is looked at.
type Subject struct {
	Projects   []string // keys of its labels "project:<key>"
	Agent      string
	Task       string
	Ancestors  []string // parent, its parent and so on
	Assignment string
}

// Covers reports whether a budget of the same workspace counts the subject.
func (b *Budget) Covers(s Subject) bool {
	switch b.Scope {
	case ScopeWorkspace:
		return true
	case ScopeProject:
		return slices.Contains(s.Projects, b.Ref)
	case ScopeAgent:
		return b.Ref != "" && s.Agent == b.Ref
	case ScopeTask:
		return b.Ref != "" && (s.Task == b.Ref || slices.Contains(s.Ancestors, b.Ref))
	case ScopeAssignment:
		return b.Ref != "" && s.Assignment == b.Ref
	}
	return false
}
