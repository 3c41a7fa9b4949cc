package engine

import (
	"testing"

	"github.com/fairlead/fairlead"
)

const waiting = `
workflow: waiting
name: Waiting
start: work
steps:
  - key: work
    name: Work
    agent: coder
    on:
      blocker_resolved: [{queue_run: {to: primary}}]
      children_completed: [{queue_run: {to: primary}}, {move: {to: review, if: "children.cancelled > 0"}}]
  - {key: review, name: Review}
`

func (b *bench) recheck(removed ...string) Plan {
	b.t.Helper()
	t := Trigger{Kind: KindRecheck, Actor: fairlead.Engine()}
	if len(removed) > 0 {
		t.Payload = map[string]any{"removed": listOfAny(removed)}
	}
	return b.do(t)
}

func TestE17_ASecondBatchOfChildrenFiresAgain(t *testing.T) {
	t.Parallel()
	b := created(t, waiting, "")
	b.s.Children = []Linked{{Task: "tsk_2", Outcome: fairlead.TerminalDone, Visit: 3}, {Task: "tsk_3", Open: true}}
	p := b.recheck()
	equal(t, "one of two", kinds(p.Effects), []string{"Tell"})
	b.s.Children[1] = Linked{Task: "tsk_3", Outcome: fairlead.TerminalDone, Visit: 2}
	p = b.recheck()
	equal(t, "both", kinds(p.Effects), []string{"Tell", "NewAssignment", "Wake"})
	w := effects[Wake](p.Effects)[0]
	equal(t, "wake", []any{w.Reason, w.Payload}, []any{"children_completed", map[string]any{
		"children": []any{"tsk_2", "tsk_3"}, "outcomes": map[string]any{"tsk_2": "done", "tsk_3": "done"},
	}})
	equal(t, "told", kinds(b.recheck().Effects), []string{})

	b.s.Children = append(b.s.Children, Linked{Task: "tsk_4", Open: true})
	equal(t, "second batch begins", kinds(b.recheck().Effects), []string{})
	b.s.Children[2] = Linked{Task: "tsk_4", Outcome: fairlead.TerminalDone, Visit: 2}
	equal(t, "second batch", kinds(b.recheck().Effects), []string{"Tell", "Wake"})
	// A child that is reopened and ends again ends in another visit, which nobody has told yet.
	b.s.Children[0] = Linked{Task: "tsk_2", Outcome: fairlead.TerminalCancelled, Visit: 5}
	p = b.recheck()
	equal(t, "reopened", kinds(p.Effects), []string{"Tell", "Wake", "EndVisit", "BeginVisit"})
	b.stands("review", 2)
}

func TestE41_TwoBlockersEndingTogetherWakeOnce(t *testing.T) {
	t.Parallel()
	b := created(t, waiting, "")
	b.s.Blockers = []Linked{{Task: "tsk_2", Outcome: fairlead.TerminalDone, Visit: 2}, {Task: "tsk_3", Outcome: fairlead.TerminalDone, Visit: 2}}
	p := b.recheck()
	equal(t, "first", kinds(p.Effects), []string{"Tell", "Tell", "NewAssignment", "Wake"})
	equal(t, "payload", effects[Wake](p.Effects)[0].Payload, map[string]any{"blocker_ids": []any{"tsk_2", "tsk_3"}})
	equal(t, "second", kinds(b.recheck().Effects), []string{})
}

func TestE16_WhatCountsAsAnEndOfABlocker(t *testing.T) {
	t.Parallel()
	b := created(t, waiting, "")
	// Cancelled, and the task's rule keeps it: it goes on blocking.
	b.s.Blockers = []Linked{{Task: "tsk_2", Open: true, Outcome: fairlead.TerminalCancelled, Visit: 2}, {Task: "tsk_3", Open: true}}
	equal(t, "kept", kinds(b.recheck().Effects), []string{})
	b.s.Blockers = b.s.Blockers[:1]
	equal(t, "one edge removed", kinds(b.recheck("tsk_3").Effects), []string{})
	b.s.Blockers = nil
	p := b.recheck("tsk_2")
	equal(t, "the last removed", kinds(p.Effects), []string{"NewAssignment", "Wake"})
	equal(t, "payload", effects[Wake](p.Effects)[0].Payload, map[string]any{"blocker_ids": []any{"tsk_2"}})
	b.s.Blockers = []Linked{{Task: "tsk_4", Outcome: fairlead.TerminalCancelled, Visit: 2}}
	equal(t, "resolved", kinds(b.recheck().Effects), []string{"Tell", "Wake"})
	equal(t, "both forms", texts([]string{"a"}), []string{"a"})
}

func TestRecheckWeighsQuorums(t *testing.T) {
	t.Parallel()
	b := created(t, reviewed, "review")
	for _, h := range []string{"agent:reviewer", "agent:tester", "person:owner"} {
		b.voted(h, fairlead.VerdictApproved)
	}
	b.recheck()
	b.stands("done", 2)
}
