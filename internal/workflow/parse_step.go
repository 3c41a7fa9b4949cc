package workflow

import (
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// stepKeys are the keys of a step beside its triggers.
var stepKeys = []string{
	"key", "name", "stage", "stage_type", "agent", "agent_profile_id", "program", "complete", "wip", "settle", "plan", "plan_mode", "max_visits",
	"prompt", "model", "on_interrupt", "approve", "participants", "quorum", "terminal", "on", "manual", "transitions",
}

var (
	promptKeys      = []string{"prefix", "suffix"}
	quorumKeys      = []string{"on_empty"}
	participantKeys = []string{"role", "agent", "agent_profile_id", "person", "decision_required"}
)

func (c *compiler) step(n *node, path string) *Step {
	keys := append([]string(nil), stepKeys...)
	for _, t := range triggerNames() {
		keys = append(keys, "on_"+t)
	}
	o, ok := c.object(n, path, "a step", keys)
	if !ok {
		return nil
	}
	s := &Step{Pos: n.pos, On: map[fairlead.TriggerKind][]Action{}, Manual: map[string][]Action{}}
	if o.required("key", "a step", "name it, as `key: work`") {
		s.Key = o.name("key")
		s.Pos = o.at("key").pos
	}
	if s.Name = o.str("name"); s.Name == "" {
		s.Name = s.Key
	}
	stage, at := o.either("stage", "stage_type")
	if s.Stage = c.choice(stage, at, "stage", "work", "review", "approval", "custom"); s.Stage == "" {
		s.Stage = "custom"
	}
	agent, at := o.either("agent", "agent_profile_id")
	s.Agent = c.name(agent, at, "agent")
	c.known(c.names.Agents, agent, at, "agent", s.Agent)
	s.Terminal = fairlead.Terminal(o.choice("terminal", "done", "cancelled"))
	c.workOf(o, s)
	c.participants(o, s)
	c.triggers(o, s)
	c.checkStep(o, s)
	return s
}

// workOf reads how the step's work is done.
func (c *compiler) workOf(o object, s *Step) {
	c.program(o, s)
	if s.Complete = Complete(o.choice("complete", "turn", "signal")); s.Complete == "" {
		s.Complete = CompleteTurn
	}
	s.WIP = o.integer("wip", 0)
	s.Settle = o.duration("settle", 0)
	plan, at := o.either("plan", "plan_mode")
	if plan != nil && c.want(plan, at, "plan", kindBool) {
		s.Plan = plan.value.(bool)
	}
	s.MaxVisits = o.integer("max_visits", DefaultMaxVisits)
	s.Model = o.str("model")
	if n := o.at("prompt"); n != nil {
		if p, ok := c.object(n, o.sub("prompt"), "prompt", promptKeys); ok {
			s.Prefix, s.Suffix = p.str("prefix"), p.str("suffix")
		}
	}
	if s.OnInterrupt = o.choice("on_interrupt", "continue", "ask", "restart"); s.OnInterrupt == "" {
		s.OnInterrupt = "continue"
	}
	if s.Approve = o.choice("approve", "ask", "auto"); s.Approve == "" {
		s.Approve = "ask"
	}
	s.OnEmpty = OnEmptyBlock
	if n := o.at("quorum"); n != nil {
		if q, ok := c.object(n, o.sub("quorum"), "quorum", quorumKeys); ok && q.choice("on_empty", "block", "pass") == "pass" {
			s.OnEmpty = OnEmptyPass
		}
	}
}

// programKeys are the keys of the long form of program.
var programKeys = []string{"flow", "rounds", "with"}

// ProgramPlain is the program of a step whose agent decides freely.
const ProgramPlain = "plain"

// program reads `plain`, `flow:<name>`, `rounds:<name>` or {flow: <name>, with: {…}}.
func (c *compiler) program(o object, s *Step) {
	s.Program = ProgramPlain
	n, path := o.at("program"), o.sub("program")
	if n == nil {
		return
	}
	remedy := "write plain, flow:<name> or rounds:<name>"
	if n.kind == kindString {
		kind, name, named := strings.Cut(n.text(), ":")
		switch {
		case n.text() == ProgramPlain:
		case named && (kind == "flow" || kind == "rounds") && fairlead.ValidKey(name):
			s.Program = n.text()
			c.known(c.names.Programs, n, path, "program", s.Program)
		default:
			c.report.fail(n.pos, path, fmt.Sprintf("unknown program %q", clip(n.text())), remedy)
		}
		return
	}
	if n.kind != kindMap {
		c.report.fail(n.pos, path, fmt.Sprintf("program must be a text or a map, not %s", n.kind), remedy)
		return
	}
	p, _ := c.object(n, path, "program", programKeys)
	flow, rounds := p.at("flow"), p.at("rounds")
	if (flow == nil) == (rounds == nil) {
		c.report.fail(n.pos, path, "program names not exactly one of flow and rounds", remedy)
		return
	}
	kind, name := "flow", flow
	if flow == nil {
		kind, name = "rounds", rounds
	}
	if key := c.name(name, p.sub(kind), kind); key != "" {
		s.Program = kind + ":" + key
		c.known(c.names.Programs, name, p.sub(kind), "program", s.Program)
	}
	s.With = c.inputs(p)
}

func (c *compiler) participants(o object, s *Step) {
	seen := map[string]bool{}
	for i, n := range c.list(o.at("participants"), o.sub("participants"), "participants") {
		path := index(o.sub("participants"), i)
		p, ok := c.object(n, path, "a participant", participantKeys)
		if !ok {
			continue
		}
		x := Participant{Pos: n.pos}
		if p.required("role", "a participant", "name it reviewer, approver, watcher or collaborator") {
			x.Role = fairlead.Role(p.choice("role", roleNames...))
		}
		agent, at := p.either("agent", "agent_profile_id")
		x.Agent, x.Person = c.name(agent, at, "agent"), p.name("person")
		if (agent == nil) == (p.at("person") == nil) {
			c.report.fail(n.pos, path, "a participant is not exactly one of agent and person", "name the agent or the person who sits here")
		}
		c.known(c.names.Agents, agent, at, "agent", x.Agent)
		c.known(c.names.People, p.at("person"), p.sub("person"), "person", x.Person)
		x.DecisionRequired = p.boolean("decision_required", x.Role.Votes())
		if x.DecisionRequired && !x.Role.Votes() && x.Role != "" {
			c.report.fail(p.at("decision_required").pos, p.sub("decision_required"), fmt.Sprintf("a %s has no vote, so no decision can be required of it", x.Role),
				"leave decision_required out, or make it a reviewer or approver")
		}
		id := string(x.Role) + "/" + x.Agent + "/" + x.Person
		if seen[id] {
			c.report.fail(n.pos, path, "this participant stands here twice with the same role", "keep one of them")
		}
		seen[id] = true
		s.Participants = append(s.Participants, x)
	}
}

var roleNames = []string{"reviewer", "approver", "watcher", "collaborator"}

// checkStep refuses what cannot work within one step.
func (c *compiler) checkStep(o object, s *Step) {
	if s.Complete != CompleteSignal {
		return
	}
	pos := o.at("complete").pos
	switch {
	case s.Program != ProgramPlain:
		c.report.fail(pos, o.sub("complete"), "the step waits for a signal that its program cannot send: only the program's own end completes it",
			"leave `complete` out")
	case o.at("agent") == nil && o.at("agent_profile_id") == nil:
		c.report.fail(pos, o.sub("complete"), "the step waits for a signal that nobody can send: it has no agent", "name an `agent`, or leave `complete` out")
	}
}

// minHeartbeat keeps a typing mistake from waking agents without end.
const minHeartbeat = time.Second
