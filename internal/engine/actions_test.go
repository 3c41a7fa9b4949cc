package engine

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workflow"
)

const acting = `
workflow: acting
name: Acting
start: work
steps:
  - key: work
    name: Work
    on:
      manual:
        child: [{create_child: {workflow: errand, title: "Look after ${task.title}", description: d, agent: second}}, {move: {to: done, if: "children.open == 0"}}]
        own: [{create_child: {title: Again}}]
        orphan: [{create_child: {workflow: nowhere, title: T}}, {create_child: {workflow: errand, title: T, agent: nobody}}]
        badchild: [{create_child: {workflow: errand, title: "${payload.x}"}}, {create_child: {workflow: errand, title: T, description: "${payload.x}"}}]
        pause: [{pause_agent: {agent: second}}, {pause_agent: {agent: nobody}}]
        notice: [{inbox_item: {kind: note}}, {inbox_item: {kind: note, text: "${payload.x}"}}]
        comment: [{comment: {text: "at ${visit.step}"}}, {comment: {text: "${payload.x}"}}]
        set: [{set: {add_labels: [a, b], remove_labels: [c], priority: high, agent: second, metadata: {k: "${visit.n}", s: fixed}}}, {move: {to: done, if: "'a' in labels"}}]
        badset: [{set: {agent: nobody}}, {set: {metadata: {k: "${payload.x}"}}}]
        notify: [{notify: {url: "https://example.org/${task.id}", text: hi}}, {notify: {url: "https://example.org/${payload.x}"}}, {notify: {url: "https://example.org/", text: "${payload.x}"}}]
        primary: [{queue_run: {to: primary}}]
        badwake: [{queue_run: {to: "agent:second", payload: {a: "${payload.x}"}}}, {queue_run: {to: "agent:second", key: "${payload.x}"}}, {fan_out: {role: reviewer, key: "${payload.x}"}}]
        approve: [{request_approval: {prompt: "${payload.x}"}}]
        end: [{end: {as: done}}]
  - {key: done, name: Done, terminal: done}
`

func TestActions(t *testing.T) {
	t.Parallel()
	for key, want := range map[string][]string{
		"child":    {"create_child taken", "move taken"},
		"own":      {"create_child taken"},
		"orphan":   {"create_child failed no_such_workflow", "create_child failed no_such_agent"},
		"badchild": {"create_child failed text_error", "create_child failed text_error"},
		"pause":    {"pause_agent taken", "pause_agent failed no_such_agent"},
		"notice":   {"inbox_item taken", "inbox_item failed text_error"},
		"comment":  {"comment taken", "comment failed text_error"},
		"set":      {"set taken", "move skipped guard_false"},
		"badset":   {"set failed no_such_agent", "set failed text_error"},
		"notify":   {"notify taken", "notify failed text_error", "notify failed text_error"},
		"primary":  {"queue_run failed no_such_agent"},
		"badwake":  {"queue_run failed text_error", "queue_run failed text_error", "fan_out failed text_error"},
		"approve":  {"request_approval failed text_error"},
		"end":      {"move taken"},
	} {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			b := created(t, acting, "")
			b.s.Task.Labels = []string{"c", "b"}
			p := b.do(manual(key, nil))
			var got []string
			failures := 0
			for _, line := range why(p) {
				got = append(got, strings.TrimPrefix(line, "manual:"+key+" "))
				if strings.Contains(line, " failed ") {
					failures++
				}
			}
			equal(t, "why", got, want)
			notices := 0
			for _, n := range effects[AddNotice](p.Effects) {
				if n.Kind == NoticeActionFailed {
					notices++
				}
			}
			equal(t, "each failure is in the inbox", notices, failures)
			switch key {
			case "child":
				c := effects[CreateChild](p.Effects)[0]
				equal(t, "child", []string{c.Workflow, c.Title, c.Description, c.Agent}, []string{"errand", "Look after Mend the gate", "d", "second"})
			case "own":
				equal(t, "workflow", effects[CreateChild](p.Effects)[0].Workflow, "acting")
			case "notice":
				equal(t, "text", effects[AddNotice](p.Effects)[0].Text, "note")
			case "set":
				task := b.s.Task
				equal(t, "task", []any{task.Labels, task.Priority, task.Agent, task.Metadata["s"]}, []any{[]string{"b", "a"}, fairlead.PriorityHigh, "second", "fixed"})
			case "notify":
				equal(t, "notify", effects[Notify](p.Effects)[0], Notify{URL: "https://example.org/tsk_1", Text: "hi"})
			}
		})
	}
}

func TestActionsOfDefinitionsMadeByHand(t *testing.T) {
	t.Parallel()
	b := created(t, acting, "")
	def := *b.s.Pinned
	step := *def.Steps[0]
	def.Steps = []*workflow.Step{&step, def.Steps[1]}
	step.On = map[fairlead.TriggerKind][]workflow.Action{
		fairlead.TriggerComment: {
			{Kind: "dance"}, {Kind: workflow.ActionSet}, {Kind: workflow.ActionInboxItem}, {Kind: workflow.ActionPauseAgent, Agent: failedAgent},
			{Kind: workflow.ActionQueueRun, Target: workflow.Target{Kind: workflow.TargetRole, Name: "reviewer"}, Task: taskCoordination},
			{Kind: workflow.ActionQueueRun, Target: workflow.Target{Kind: workflow.TargetAgent, Name: "nobody"}, Task: "tsk_9"},
		},
		fairlead.TriggerExit: {{Kind: workflow.ActionMove, To: "done"}},
	}
	step.Participants = []workflow.Participant{
		{Role: fairlead.RoleReviewer, Agent: "nobody", DecisionRequired: true}, {Role: fairlead.RoleReviewer, Person: "nobody", DecisionRequired: true},
		{Role: fairlead.RoleCollaborator, Person: "anna"},
	}
	step.Manual = map[string][]workflow.Action{"all": {
		{Kind: workflow.ActionFanOut, Role: fairlead.RoleReviewer}, {Kind: workflow.ActionFanOut, Role: fairlead.RoleCollaborator},
		{Kind: workflow.ActionQueueRun, Target: workflow.Target{Kind: workflow.TargetRole, Name: "collaborator"}},
	}}
	def.Version = 2
	b.s.Newest = &def
	p := b.do(Trigger{Kind: KindRepin, Actor: owner})
	equal(t, "asking who is gone", why(p)[1:], []string{"repin ask failed no_such_agent", "repin ask failed no_such_person"})
	// They stay on the slate: a quorum does not shrink because somebody left the workspace.
	equal(t, "pending", FactsOf(b.s, nil).Decisions.Pending, 2)
	equal(t, "fan out", why(b.do(manual("all", nil))), []string{
		"manual:all fan_out failed no_such_agent", "manual:all fan_out failed no_such_person", "manual:all fan_out skipped no_vote",
		"manual:all queue_run skipped person",
	})
	p = b.do(Trigger{Kind: fairlead.TriggerComment, Actor: owner})
	equal(t, "why", why(p), []string{
		"comment dance failed unknown_action", "comment set skipped nothing", "comment inbox_item taken", "comment pause_agent failed no_such_agent",
		"comment queue_run failed no_such_target", "comment queue_run failed no_such_agent",
	})
	equal(t, "notice", effects[AddNotice](p.Effects)[1].Kind, "comment")
	p = b.do(Trigger{Kind: KindMove, Actor: owner, Move: &Move{To: "done"}})
	equal(t, "exit", why(p)[1], "exit move skipped not_allowed")
}

func TestAPersonIsAskedOnce(t *testing.T) {
	t.Parallel()
	b := created(t, `
workflow: twice
name: Twice
start: review
steps:
  - key: review
    name: Review
    participants: [{role: reviewer, person: owner}]
    on: {comment: [{fan_out: {role: reviewer}}], decision: [{move: {to: done, if: 'quorum("reviewer", "all_approve")'}}]}
  - {key: done, name: Done, terminal: done}
`, "")
	equal(t, "open already", why(b.do(Trigger{Kind: fairlead.TriggerComment, Actor: anna})), []string{"comment fan_out skipped already_asked"})
}
