package workflow

import (
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/schedule"
)

// slot names the list that actions go to.
type slot struct {
	step    *Step
	trigger fairlead.TriggerKind
	key     string // of a manual trigger
}

func (s slot) add(actions ...Action) {
	if s.trigger == fairlead.TriggerManual {
		s.step.Manual[s.key] = append(s.step.Manual[s.key], actions...)
		return
	}
	s.step.On[s.trigger] = append(s.step.On[s.trigger], actions...)
}

// triggers reads everything a step does, in the order of the file, whichever spelling it is in.
func (c *compiler) triggers(o object, s *Step) {
	named := map[fairlead.TriggerKind]bool{}
	for _, p := range o.pairs {
		path := o.sub(p.key)
		switch {
		case p.value.kind == kindNull:
		case p.key == "on":
			on, ok := c.object(p.value, path, "on", triggerNames())
			if !ok {
				continue
			}
			for _, q := range on.pairs {
				c.trigger(s, q, on.sub(q.key), named)
			}
		case p.key == "transitions":
			c.transitions(s, p.value, path)
		case p.key == string(fairlead.TriggerManual):
			c.trigger(s, p, path, named)
		default:
			if _, ok := triggerOf(p.key); ok && p.key != "on_interrupt" {
				c.trigger(s, p, path, named)
			}
		}
	}
	if acts := s.On[fairlead.TriggerHeartbeat]; len(acts) > 0 && s.Heartbeat == nil {
		c.report.fail(acts[0].Pos, o.path, "a transition waits for a heartbeat that the step does not have", "add `heartbeat: {every: 15m}` under `on`")
	}
}

func (c *compiler) trigger(s *Step, p pair, path string, named map[fairlead.TriggerKind]bool) {
	kind, ok := triggerOf(p.key)
	if !ok || p.value.kind == kindNull {
		return // an unknown one was reported with the keys
	}
	if named[kind] {
		c.report.fail(p.pos, path, fmt.Sprintf("the trigger %s stands twice at this step", kind), "write all of its actions in one list")
		return
	}
	named[kind] = true
	switch kind {
	case fairlead.TriggerManual:
		c.manual(s, p.value, path)
	case fairlead.TriggerHeartbeat:
		c.heartbeat(s, p.value, path)
	default:
		c.actions(slot{s, kind, ""}, p.value, path)
	}
}

func (c *compiler) manual(s *Step, n *node, path string) {
	if !c.want(n, path, "manual", kindMap) {
		return
	}
	for _, p := range n.pairs {
		if !fairlead.ValidKey(p.key) {
			c.report.fail(p.pos, join(path, p.key), "the key of a manual trigger is not a valid name", "use a lower-case letter, then at most 62 of a-z, 0-9, - and _")
			continue
		}
		s.Manual[p.key] = []Action{}
		if p.value.kind != kindNull {
			c.actions(slot{s, fairlead.TriggerManual, p.key}, p.value, join(path, p.key))
		}
	}
}

var heartbeatKeys = []string{"every", "cron", "zone", "only_if", "missed", "do"}

func (c *compiler) heartbeat(s *Step, n *node, path string) {
	o, ok := c.object(n, path, "heartbeat", heartbeatKeys)
	if !ok {
		return
	}
	h := &Heartbeat{Every: o.duration("every", minHeartbeat), Cron: o.str("cron"), Zone: o.str("zone"), OnlyIf: c.guard(o.at("only_if"), o.sub("only_if"))}
	missed, err := schedule.ParsePolicy(o.str("missed"))
	if err != nil {
		c.refuse(o.at("missed"), o.sub("missed"), err)
	}
	h.Missed = missed.String()
	if (o.at("every") == nil) == (o.at("cron") == nil) {
		c.report.fail(n.pos, path, "a heartbeat has not exactly one of every and cron", "write `every: 15m`, or `cron: \"0 9 * * 1\"` with a zone")
	}
	if o.at("zone") != nil && o.at("cron") == nil {
		c.report.fail(o.at("zone").pos, o.sub("zone"), "a zone counts only with cron", "leave it out")
	}
	c.checkCron(o, h)
	s.Heartbeat = h
	if do := o.at("do"); do != nil {
		c.actions(slot{s, fairlead.TriggerHeartbeat, ""}, do, o.sub("do"))
	}
}

// actions reads a list of actions into a slot.
func (c *compiler) actions(to slot, n *node, path string) {
	list := c.list(n, path, "the actions of a trigger")
	if len(list) > maxActions {
		c.report.fail(list[maxActions].pos, path, fmt.Sprintf("the trigger has more than %d actions", maxActions), "use a step for each part of the work")
		return
	}
	for i, x := range list {
		a, ok := c.action(to, x, index(path, i))
		if !ok {
			continue
		}
		a.seq = c.seq
		c.seq++
		to.add(a)
	}
}

var transitionKeys = []string{"when", "if", "wait_for_quorum", "goto", "to"}

// transitions reads the list form of moves: [{when: turn_complete, if: …, goto: done}].
func (c *compiler) transitions(s *Step, n *node, path string) {
	for i, x := range c.list(n, path, "transitions") {
		at := index(path, i)
		o, ok := c.object(x, at, "a transition", transitionKeys)
		if !ok {
			continue
		}
		if !o.required("when", "a transition", "name the trigger, as `when: turn_complete`") {
			continue
		}
		to, ok := c.when(s, o)
		if !ok {
			continue
		}
		a := Action{Kind: ActionMove, Pos: x.pos, seq: c.seq, If: c.condition(o)}
		c.seq++
		goal, goalPath := o.either("goto", "to")
		if goal == nil {
			c.report.fail(x.pos, at, "a transition needs `goto`", "name the step it goes to")
		}
		a.To = c.stepName(goal, goalPath, "goto")
		c.checkMove(to, x, at)
		to.add(a)
	}
}

// when reads the trigger of a transition: `turn_complete`, `on_turn_complete` or `manual:<key>`.
func (c *compiler) when(s *Step, o object) (slot, bool) {
	n := o.at("when")
	word := c.str(n, o.sub("when"), "when")
	if key, ok := cutManual(word); ok {
		if !fairlead.ValidKey(key) {
			c.report.fail(n.pos, o.sub("when"), "a transition by hand needs the key of its manual trigger", "write `when: manual:<key>`")
			return slot{}, false
		}
		return slot{s, fairlead.TriggerManual, key}, true
	}
	kind, ok := triggerOf(word)
	if !ok {
		if n.kind == kindString {
			c.report.fail(n.pos, o.sub("when"), fmt.Sprintf("unknown trigger %q", clip(word)), suggest(word, triggerNames()))
		}
		return slot{}, false
	}
	return slot{s, kind, ""}, true
}
