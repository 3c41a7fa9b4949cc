package control

import (
	"context"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/catalog"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/workflow"
)

// simulatedTask is the id of the task that a simulation makes up.
const simulatedTask = "tsk_simulated"

// Simulate says what a trigger would do to a made-up task at a step (default: the start) of a workflow, saved or not.
// The task has the seats, and if the step has an agent the primary's work, that entering the step would give it.
// Payload verdict (with role, default every voter) makes the seats decide so; for approval_resolved it is the approval's.
// Nothing is written.
func (c *Control) Simulate(ctx context.Context, ws string, body fairlead.SimulateBody) (fairlead.Outcome, error) {
	var out fairlead.Outcome
	err := c.db.Read(ctx, func(tx *storeReadTx) error {
		if err := read.CheckWorkspace(tx, ws); err != nil {
			return err
		}
		f, err := c.catalog.Facts(tx, ws)
		if err != nil {
			return err
		}
		d, err := c.simulated(tx, f, ws, body)
		if err != nil {
			return err
		}
		seed, err := c.newSeed()
		if err != nil {
			return err
		}
		out, err = simulate(f, d, body, seed, c.db.Now())
		return err
	})
	if err != nil {
		return fairlead.Outcome{}, questionError("simulate workflow", err)
	}
	return out, nil
}

// simulated returns the workflow a simulation is about.
func (c *Control) simulated(tx *storeReadTx, f *catalog.Facts, ws string, body fairlead.SimulateBody) (*workflow.Definition, error) {
	if (body.Source == "") == (body.Key == "") {
		return nil, invalidField("key", "name exactly one of source and key", "leave the other one out")
	}
	if body.Key != "" {
		return c.catalog.Definition(tx, ws, body.Key, 0)
	}
	d, report := compile(f, body.Source)
	return d, report.Err()
}

func simulate(f *catalog.Facts, d *workflow.Definition, body fairlead.SimulateBody, seed fairlead.Seed, now time.Time) (fairlead.Outcome, error) {
	key := body.Step
	if key == "" {
		key = d.Start
	}
	step := d.Step(key)
	if step == nil {
		return fairlead.Outcome{}, invalidField("step", "the workflow has no such step", "leave it out for the start")
	}
	kind, manual, _ := strings.Cut(body.Trigger, ":")
	t := engine.Trigger{Op: "simulation", Kind: fairlead.TriggerKind(kind), Key: manual, Actor: fairlead.Engine(), Payload: body.Payload}
	if !t.Kind.Valid() {
		return fairlead.Outcome{}, invalidField("trigger", "unknown trigger", "use a trigger of the workflow, as comment or manual:KEY")
	}
	s := madeUp(f, d, step, seed, now)
	if t.Kind == fairlead.TriggerEnter {
		s.Entered = false
	} else {
		takePlaces(&s, now)
	}
	pretend(&s, &t)
	plan, refused := engine.Decide(s, t, now)
	if refused != nil {
		return fairlead.Outcome{}, refused
	}
	out := showPlan(plan)
	out.DryRun = true
	return out, nil
}

// madeUp is a task in its first visit of a step.
func madeUp(f *catalog.Facts, d *workflow.Definition, step *workflow.Step, seed fairlead.Seed, now time.Time) engine.Snapshot {
	s := engine.Snapshot{
		Pinned: d, Newest: d, Entered: true, Agents: f.Agents, People: f.People, Duties: f.Duties, Workflows: f.Workflows, Seed: seed,
		Task: fairlead.Task{
			ID: simulatedTask, Identifier: "SIM-1", Workflow: d.Key, WorkflowVersion: d.Version, Step: step.Key, Visit: 1, Round: 1,
			Terminal: step.Terminal, Title: "Simulated task", Priority: fairlead.PriorityMedium, Origin: fairlead.OriginManual,
			CancelledBlocker: fairlead.CancelledResolves, CreatedAt: now, MovedAt: now, UpdatedAt: now, Version: 1,
		},
		Visit: fairlead.Visit{
			Task: simulatedTask, N: 1, Workflow: d.Key, WorkflowVersion: d.Version, Step: step.Key, By: fairlead.Person(ownerPerson),
			Reason: "simulation", Round: 1, BeganAt: now,
		},
	}
	if step.Agent != "" {
		s.Assignments = append(s.Assignments, fairlead.Assignment{
			ID: "asg_simulated", Task: simulatedTask, Visit: 1, Step: step.Key, Capacity: fairlead.CapacityPrimary, Agent: step.Agent,
			Program: step.Program, State: fairlead.AssignmentOpen, CreatedAt: now, Version: 1,
		})
	}
	return s
}

// takePlaces gives the task the seats that entering its step would have given it, and has them asked.
func takePlaces(s *engine.Snapshot, now time.Time) {
	plan, refused := engine.Decide(*s, engine.Trigger{Op: "simulation", Kind: engine.KindSeats, Actor: fairlead.Engine()}, now)
	if refused != nil {
		return
	}
	for _, e := range plan.Effects {
		switch e := e.(type) {
		case engine.AddSeat:
			s.Seats = append(s.Seats, e.Seat)
		case engine.NewAssignment:
			s.Assignments = append(s.Assignments, e.Assignment)
		case engine.OpenRequest:
			s.Open = append(s.Open, e.Request)
		case engine.BeginVisit:
			return // a quorum that nobody has to vote for moved it on: what follows is another visit's
		}
	}
}

// pretend makes the facts true that a trigger speaks of.
func pretend(s *engine.Snapshot, t *engine.Trigger) {
	verdict, _ := t.Payload["verdict"].(string)
	switch t.Kind {
	case fairlead.TriggerTurnStart, fairlead.TriggerTurnComplete, fairlead.TriggerAgentError:
		completed, given := t.Payload["completed"].(bool)
		t.Completed = t.Kind == fairlead.TriggerTurnComplete && (completed || !given)
		for i := range s.Assignments {
			if a := &s.Assignments[i]; a.Capacity == fairlead.CapacityPrimary {
				t.Assignment, a.Signalled = a.ID, t.Completed
			}
		}
	case fairlead.TriggerDecision:
		role, _ := t.Payload["role"].(string)
		if v, err := fairlead.ParseVerdict(verdict); err == nil {
			decideAll(s, fairlead.Role(role), v)
		}
	case fairlead.TriggerApprovalResolved:
		q := fairlead.Request{
			ID: "req_simulated", Kind: fairlead.RequestApproval, Task: s.Task.ID, Visit: 1, Blocks: fairlead.BlocksTask,
			State: fairlead.RequestAnswered, Answer: &fairlead.Answer{Verdict: verdict},
		}
		s.Approval, t.Request = &q, &q
	}
}

// decideAll lets every voter of a role ("" = all) say the same.
func decideAll(s *engine.Snapshot, role fairlead.Role, v fairlead.Verdict) {
	for i, seat := range s.Seats {
		if !seat.DecisionRequired || role != "" && seat.Role != role {
			continue
		}
		s.Decisions = append(s.Decisions, fairlead.Decision{
			ID: "dec_" + seat.ID, Task: s.Task.ID, Visit: 1, Round: 1, Seat: seat.ID, Role: seat.Role, Verdict: v, Seq: int64(i + 1),
		})
		for j := range s.Open {
			if s.Open[j].Seat == seat.ID {
				s.Open[j].State = fairlead.RequestAnswered
			}
		}
	}
	var open []fairlead.Request
	for _, q := range s.Open {
		if q.State == fairlead.RequestOpen {
			open = append(open, q)
		}
	}
	s.Open = open
}
