package engine

import (
	"testing"

	"github.com/fairlead/fairlead"
)

func TestE15_ACommentNeverWakesItsOwnAuthor(t *testing.T) {
	t.Parallel()
	b := created(t, `
workflow: talk
name: Talk
start: work
steps:
  - key: work
    name: Work
    agent: coder
    settle: 5s
    participants:
      - {role: reviewer, agent: reviewer, decision_required: false}
      - {role: reviewer, person: anna, decision_required: false}
      - {role: watcher, person: owner}
      - {role: watcher, agent: tester}
      - {role: collaborator, agent: second}
      - {role: collaborator, person: anna}
    on:
      comment:
        - queue_run: {to: primary}
        - fan_out: {role: reviewer}
        - queue_run: {to: "role:collaborator"}
        - fan_out: {role: collaborator}
        - queue_run: {to: "role:approver"}
        - queue_run: {to: "agent:tester"}
`, "")
	comment := func(by fairlead.Actor) Plan {
		p, err := b.try(Trigger{Kind: fairlead.TriggerComment, Actor: by, Payload: map[string]any{"comment_id": "com_1"}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := comment(agentActor("coder"))
	equal(t, "by coder", woken(p.Effects), []string{"reviewer comment", "second comment", "second comment", "tester comment"})
	equal(t, "why", why(p)[0], "comment queue_run skipped self")
	w := effects[Wake](p.Effects)[0]
	equal(t, "wake", []any{w.Settle, w.Payload["comment_id"], w.By.Key}, []any{true, "com_1", "coder"})

	p = comment(agentActor("reviewer"))
	equal(t, "by reviewer", woken(p.Effects)[0], "coder comment")
	equal(t, "requests", len(effects[OpenRequest](p.Effects)), 1)

	p = comment(anna)
	equal(t, "by anna", len(effects[OpenRequest](p.Effects)), 0)
	equal(t, "settle of a person", effects[Wake](p.Effects)[0].Settle, false)
	p = comment(client)
	equal(t, "settle of a client", effects[Wake](p.Effects)[0].Settle, true)
	// A watcher who is named as an agent works as a guest.
	var guests int
	for _, n := range effects[NewAssignment](p.Effects) {
		if n.Assignment.Capacity == fairlead.CapacityGuest {
			guests++
			equal(t, "guest", n.Assignment.Agent, "tester")
		}
	}
	equal(t, "guests", guests, 1)
	equal(t, "empty role", why(p)[len(why(p))-2], "comment queue_run skipped slate_empty")
}

const office = `
workflow: office
name: Office
start: work
steps:
  - key: work
    name: Work
    agent: coder
    on:
      enter: [{queue_run: {to: primary}}]
      turn_complete: [{move: {to: done}}]
      agent_error:
        - pause_agent: {agent: failed}
        - queue_run: {to: "duty:ceo", reason: agent_error}
        - queue_run: {to: "duty:ceo", task: coordination}
        - queue_run: {to: primary}
        - inbox_item: {kind: agent_error}
  - {key: done, name: Done, terminal: done}
`

func failed(agent string) Trigger {
	return Trigger{Kind: fairlead.TriggerAgentError, Actor: fairlead.Engine(), Payload: map[string]any{
		"failed_agent_id": agent, "error_class": "transient", "error_message": "connection reset", "attempts": 5,
	}}
}

func TestE36_AGuestsTurnMovesNothing(t *testing.T) {
	t.Parallel()
	b := created(t, office, "")
	p := b.do(failed("coder"))
	equal(t, "effects", kinds(p.Effects), []string{"PauseAgent", "NewAssignment", "Wake", "Send", "AddNotice"})
	equal(t, "pause", p.Effects[0].(PauseAgent), PauseAgent{Agent: "coder", Reason: "agent_error: connection reset"})
	guest := effects[NewAssignment](p.Effects)[0].Assignment
	equal(t, "guest", []any{guest.Agent, guest.Capacity, guest.Program}, []any{"chief", fairlead.CapacityGuest, "plain"})
	equal(t, "why", why(p)[3], "agent_error queue_run skipped self")
	equal(t, "notice", effects[AddNotice](p.Effects)[0].Text, "Agent coder failed: connection reset")

	p = b.do(b.turnEnds(guest, true))
	equal(t, "turn", why(p), []string{"turn_complete move skipped not_primary"})
	b.stands("work", 1)
	unknown := b.turnEnds(fairlead.Assignment{ID: "asg_of_another_visit", Visit: 1}, true)
	equal(t, "unknown", why(b.do(unknown)), []string{"turn_complete move skipped not_primary"})
	b.do(b.turnEnds(b.primary(), true))
	b.stands("done", 2)
}

func TestAgentErrorWithoutAChiefOrOfTheChief(t *testing.T) {
	t.Parallel()
	b := created(t, office, "")
	b.s.Duties = nil
	p := b.do(failed("coder"))
	equal(t, "no chief", kinds(p.Effects), []string{"PauseAgent", "AddNotice"})
	equal(t, "why", why(p)[1:3], []string{"agent_error queue_run skipped no_such_agent", "agent_error queue_run skipped no_such_agent"})
	b = created(t, office, "")
	p = b.do(failed("chief"))
	equal(t, "of the chief", kinds(p.Effects), []string{"PauseAgent", "Wake", "AddNotice"})
	b = created(t, office, "")
	delete(b.s.Agents, "chief")
	p = b.do(failed("coder"))
	equal(t, "chief deleted", kinds(p.Effects), []string{"PauseAgent", "AddNotice"})
}

func TestWakesOfOtherTasks(t *testing.T) {
	t.Parallel()
	b := created(t, `
workflow: far
name: Far
start: work
steps:
  - key: work
    name: Work
    agent: coder
    on:
      manual:
        parent: [{queue_run: {to: primary, task: parent, reason: child, key: "k${visit.n}", payload: {from: "${task.id}", n: 1}}}]
        other: [{queue_run: {to: "agent:second", task: tsk_9}}, {queue_run: {to: "agent:second", task: tsk_9}}]
        self: [{queue_run: {to: "agent:second", task: tsk_1}}]
        role: [{queue_run: {to: "role:reviewer", task: parent}}]
        chief: [{queue_run: {to: "duty:ceo", task: coordination}}]
        nobody: [{queue_run: {to: "duty:cto", task: parent}}]
      comment: [{queue_run: {to: "agent:second", task: tsk_9}}]
`, "")
	manual := func(key string) Plan {
		p, err := b.try(Trigger{Kind: fairlead.TriggerManual, Key: key, Actor: owner, Payload: map[string]any{"x": "y"}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	equal(t, "no parent", why(manual("parent")), []string{"manual:parent queue_run skipped no_parent"})
	b.s.Task.Parent = "tsk_0"
	s := effects[Send](manual("parent").Effects)[0]
	equal(t, "parent", []any{s.Task, s.Kind, s.Trigger.Kind, s.Trigger.Actor}, []any{"tsk_0", fairlead.OutboxWake, KindWake, owner})
	equal(t, "payload", s.Trigger.Payload, map[string]any{
		"to": "primary", "reason": "child", "key": "k1", "payload": map[string]any{"from": "tsk_1", "n": s.Trigger.Payload["payload"].(map[string]any)["n"]},
	})
	two := effects[Send](manual("other").Effects)
	if two[0].Trigger.Op == two[1].Trigger.Op {
		t.Error("two actions share an operation id")
	}
	equal(t, "to", []any{two[0].Trigger.Payload["to"], two[0].Trigger.Payload["reason"]}, []any{"agent:second", "manual"})
	equal(t, "itself", kinds(manual("self").Effects), []string{"NewAssignment", "Wake"})
	equal(t, "role", effects[Send](manual("role").Effects)[0].Trigger.Payload["to"], any("role:reviewer"))
	s = effects[Send](manual("chief").Effects)[0]
	equal(t, "coordination", []any{s.Task, s.Trigger.Payload["to"]}, []any{"coordination:chief", "agent:chief"})
	equal(t, "no duty", why(manual("nobody")), []string{"manual:nobody queue_run skipped no_such_agent"})
	p := b.do(Trigger{Kind: fairlead.TriggerComment, Actor: agentActor("second")})
	equal(t, "self elsewhere", why(p), []string{"comment queue_run skipped self"})
}

func TestWatchersGetNoticesOnly(t *testing.T) {
	t.Parallel()
	b := newBench(t, plain)
	b.s.Participants = []fairlead.Participant{participant("par_1", fairlead.RoleWatcher, "person:anna"), participant("par_2", fairlead.RoleWatcher, "second")}
	p := b.do(Trigger{Kind: KindCreate, Actor: owner})
	equal(t, "effects", kinds(p.Effects), []string{"BeginVisit", "Entered", "AddSeat", "AddNotice", "AddSeat", "NewAssignment", "Wake"})
	equal(t, "notice", effects[AddNotice](p.Effects)[0], AddNotice{
		Kind: NoticeWatch, Text: `Mend the gate is at step "Work" now.`, Data: map[string]any{"for": "person:anna", "step": "work"},
	})
	p = b.do(Trigger{Kind: KindWake, Actor: owner, Payload: map[string]any{"to": "role:watcher"}})
	equal(t, "never woken", why(p), []string{"wake queue_run skipped watcher", "wake queue_run skipped watcher"})
}

func TestAddressedWakes(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	wake := func(payload map[string]any) Plan {
		p, err := b.try(Trigger{Kind: KindWake, Actor: fairlead.Engine(), Payload: payload})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := wake(map[string]any{"to": "agent:second", "reason": "child", "key": "k", "payload": map[string]any{"a": 1.0}})
	w := effects[Wake](p.Effects)[0]
	equal(t, "wake", []any{w.Agent, w.Reason, w.Key, w.Payload["a"]}, []any{"second", "child", "k", 1.0})
	equal(t, "seated", kinds(wake(map[string]any{"agent": "reviewer"}).Effects), []string{"Wake"})
	equal(t, "role", woken(wake(map[string]any{"to": "role:reviewer"}).Effects), []string{"reviewer wake", "tester wake"})
	equal(t, "no primary", why(wake(nil)), []string{"wake queue_run failed no_such_agent"})
	equal(t, "bad target", why(wake(map[string]any{"to": "somebody"})), []string{"wake queue_run failed no_such_target"})
	equal(t, "no name", why(wake(map[string]any{"to": "agent:"})), []string{"wake queue_run failed no_such_target"})
	b.do(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "done"}})
	equal(t, "ended", why(wake(map[string]any{"to": "agent:second"})), []string{"wake queue_run skipped ended"})
}

func TestABlockedTasksEnterIsNoWakeOfAPerson(t *testing.T) {
	t.Parallel()
	b := newBench(t, plain)
	b.s.Blockers = []Linked{{Task: "tsk_9", Open: true}}
	p := b.do(Trigger{Kind: KindCreate, Actor: owner})
	equal(t, "by", effects[Wake](p.Effects)[0].By, fairlead.Engine())
	p = b.do(Trigger{Kind: fairlead.TriggerComment, Actor: owner})
	equal(t, "comment by", effects[Wake](p.Effects)[0].By, owner)
}
