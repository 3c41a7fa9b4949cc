package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// argumentKeys are the arguments of each action, all spellings.
var argumentKeys = map[ActionKind][]string{
	ActionQueueRun:        {"to", "target", "task", "task_id", "reason", "payload", "key"},
	ActionFanOut:          {"role", "reason", "payload", "key"},
	ActionClearDecisions:  {},
	ActionMove:            {"to", "target", "goto", "if", "wait_for_quorum"},
	ActionCreateChild:     {"workflow", "title", "description", "agent", "agent_profile_id"},
	ActionRequestApproval: {"of", "prompt"},
	ActionPauseAgent:      {"agent"},
	ActionInboxItem:       {"kind", "text"},
	ActionComment:         {"text"},
	ActionSet:             {"add_labels", "remove_labels", "priority", "agent", "metadata"},
	ActionNotify:          {"url", "text"},
	ActionEnd:             {"as", "if", "wait_for_quorum"},
}

// action reads one entry of a trigger's list: {name: {arguments}}, or the bare name of one that needs none.
func (c *compiler) action(to slot, n *node, path string) (Action, bool) {
	name, pos, args := "", n.pos, &node{kind: kindMap, pos: n.pos}
	switch {
	case n.kind == kindString:
		name = n.text()
	case n.kind == kindMap && len(n.pairs) == 1:
		name, pos = n.pairs[0].key, n.pairs[0].pos
		if v := n.pairs[0].value; v.kind != kindNull {
			args = v
		}
	default:
		c.report.fail(n.pos, path, "an action is a map with one key", "write it as `- move: {to: done}`")
		return Action{}, false
	}
	kind := ActionKind(name)
	if k, ok := actionSpellings[name]; ok {
		kind = k
	}
	if name == actionAutoStart {
		return c.autoStart(to, args, pos, path)
	}
	keys, ok := argumentKeys[kind]
	if !ok {
		c.report.fail(pos, path, fmt.Sprintf("unknown action %q", clip(name)), suggest(name, actionNames()))
		return Action{}, false
	}
	o, ok := c.object(args, join(path, name), "the action "+name, keys)
	if !ok {
		return Action{}, false
	}
	a := Action{Kind: kind, Pos: pos}
	c.arguments(to, o, &a)
	return a, true
}

// autoStart reads `auto_start`, `auto_start: true` and `auto_start: {}`.
func (c *compiler) autoStart(to slot, args *node, pos Position, path string) (Action, bool) {
	if args.kind == kindBool && args.value == false {
		c.report.fail(args.pos, path, "auto_start: false does nothing", "leave it out")
		return Action{}, false
	}
	if args.kind != kindBool {
		if _, ok := c.object(args, join(path, actionAutoStart), "the action auto_start", nil); !ok {
			return Action{}, false
		}
	}
	return Action{Kind: ActionQueueRun, Pos: pos, Target: Target{Kind: TargetPrimary}, Task: "this", Reason: string(to.trigger)}, true
}

func (c *compiler) arguments(to slot, o object, a *Action) {
	switch a.Kind {
	case ActionQueueRun:
		c.queueRun(to, o, a)
	case ActionFanOut:
		c.fanOut(to, o, a)
	case ActionMove:
		c.move(to, o, a)
	case ActionEnd:
		c.end(to, o, a)
	case ActionCreateChild:
		c.createChild(o, a)
	case ActionRequestApproval:
		c.requestApproval(o, a)
	case ActionPauseAgent:
		c.pauseAgent(to, o, a)
	case ActionInboxItem:
		if a.NoticeKind = o.name("kind"); a.NoticeKind == "" {
			a.NoticeKind = string(to.trigger)
		}
		a.Text = c.text(o.at("text"), o.sub("text"), "text")
	case ActionComment:
		if o.required("text", "the action comment", "write what it shall say") {
			a.Text = c.filled(o, "text")
		}
	case ActionSet:
		c.set(o, a)
	case ActionNotify:
		c.notify(o, a)
	}
}

// wake reads what queue_run and fan_out share.
func (c *compiler) wake(to slot, o object, a *Action) {
	if a.Reason = c.literal(o, "reason"); a.Reason == "" {
		a.Reason = string(to.trigger)
	}
	a.Payload = c.values(o.at("payload"), o.sub("payload"), "payload")
	if o.at("key") != nil {
		a.RunKey = c.filled(o, "key")
	}
}

func (c *compiler) queueRun(to slot, o object, a *Action) {
	c.wake(to, o, a)
	n, path := o.either("to", "target")
	if n == nil {
		c.report.fail(o.pos, path, "the action queue_run needs `to`", "write `to: primary`, role:<role>, agent:<key> or duty:<duty>")
	}
	if s := c.str(n, path, "to"); s != "" {
		a.Target = c.target(n, path, s)
	}
	a.Task = "this"
	if n, path = o.either("task", "task_id"); n != nil {
		if s := c.str(n, path, "task"); s != "" {
			a.Task = s
		}
		if !validTask(a.Task) {
			c.report.fail(n.pos, path, fmt.Sprintf("unknown task %q", clip(a.Task)), "write this, parent, coordination, or a task's id as FL-123")
		}
	}
}

func (c *compiler) target(n *node, path, s string) Target {
	t, ok := parseTarget(s)
	switch {
	case !ok:
		c.report.fail(n.pos, path, fmt.Sprintf("unknown target %q", clip(s)), "write primary, role:<role>, agent:<key> or duty:<duty>")
	case t.Kind == TargetRole:
		c.roleToWake(n, path, t.Name)
	case t.Kind != TargetPrimary && !fairlead.ValidKey(t.Name):
		c.report.fail(n.pos, path, fmt.Sprintf("the name after %s: is not a valid name", t.Kind), "use a lower-case letter, then at most 62 of a-z, 0-9, - and _")
	case t.Kind == TargetAgent:
		c.known(c.names.Agents, n, path, "agent", t.Name)
	case t.Kind == TargetDuty && c.names.Duties != nil && !c.names.Duties[t.Name]:
		c.report.warn(n.pos, path, fmt.Sprintf("no agent of the workspace has the duty %q: nobody is woken", t.Name), "give an agent this duty")
	}
	return t
}

// roleToWake refuses roles whose seats are never woken.
func (c *compiler) roleToWake(n *node, path, role string) {
	switch r := fairlead.Role(role); {
	case !r.Valid():
		c.report.fail(n.pos, path, fmt.Sprintf("unknown role %q", clip(role)), suggest(role, []string{"reviewer", "approver", "collaborator"}))
	case r == fairlead.RoleWatcher:
		c.report.fail(n.pos, path, "a watcher only gets notices and is never woken", "make it a collaborator, or leave the action out")
	}
}

// validTask knows the words and the two forms of a task's id.
func validTask(s string) bool {
	if s == "this" || s == "parent" || s == "coordination" {
		return true
	}
	if rest, ok := strings.CutPrefix(s, fairlead.PrefixTask+"_"); ok {
		return rest != "" && strings.Trim(rest, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
	}
	prefix, number, ok := strings.Cut(s, "-")
	return ok && prefix != "" && number != "" && strings.Trim(prefix, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == "" &&
		strings.Trim(number, "0123456789") == ""
}

func (c *compiler) fanOut(to slot, o object, a *Action) {
	c.wake(to, o, a)
	if !o.required("role", "the action fan_out", "name the role, as `role: reviewer`") {
		return
	}
	a.Role = fairlead.Role(o.str("role"))
	if a.Role != "" {
		c.roleToWake(o.at("role"), o.sub("role"), string(a.Role))
	}
}

func (c *compiler) move(to slot, o object, a *Action) {
	c.checkMove(to, o.node, o.path)
	n, path := o.either("to", "target")
	if g := o.at("goto"); g != nil && n == nil {
		n, path = g, o.sub("goto")
	}
	if n == nil {
		c.report.fail(o.pos, path, "the action move needs `to`", "name the step it goes to")
	}
	a.To, a.If = c.stepName(n, path, "to"), c.condition(o)
}

// checkMove refuses a move where none may stand.
func (c *compiler) checkMove(to slot, n *node, path string) {
	if to.trigger == fairlead.TriggerExit {
		c.report.fail(n.pos, path, "a move under exit: the task is already on its way", "move it to the trigger that leaves the step")
	}
}

func (c *compiler) stepName(n *node, path, what string) string {
	s := c.str(n, path, what)
	if s != "" && !slices.Contains(c.keys, s) {
		c.report.fail(n.pos, path, fmt.Sprintf("unknown step %q", clip(s)), suggest(s, c.keys))
	}
	return s
}

// end compiles to a move to the one step with that terminal.
func (c *compiler) end(to slot, o object, a *Action) {
	c.checkMove(to, o.node, o.path)
	a.Kind, a.If = ActionMove, c.condition(o)
	as := o.choice("as", "done", "cancelled")
	if o.at("as") == nil {
		as = "done"
	}
	if as == "" {
		return
	}
	switch steps := c.terminals[fairlead.Terminal(as)]; len(steps) {
	case 0:
		c.report.fail(o.pos, o.path, fmt.Sprintf("no step has `terminal: %s` to end at", as), "add such a step")
	case 1:
		a.To = steps[0]
	default:
		c.report.fail(o.pos, o.path, fmt.Sprintf("several steps have `terminal: %s`", as), "name one of them with `move`")
	}
}
