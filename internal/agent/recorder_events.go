package agent

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Text records a piece of the answer; empty text is nothing.
func (t *Track) Text(s string) { t.text(EventText, s) }

// Thought records a piece of reasoning.
func (t *Track) Thought(s string) { t.text(EventThought, s) }

func (t *Track) text(kind EventKind, s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s == "" || t.exited() {
		return
	}
	if t.held.Kind != kind {
		t.flush()
	}
	if t.held.Kind == "" && len(s) < coalesceTo {
		t.held = Event{Kind: kind}
		t.timer = time.AfterFunc(coalesceFor, func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.flush()
		})
	}
	if len(t.held.Text)+len(s) < coalesceTo {
		t.held.Text += s
		return
	}
	s = t.held.Text + s
	if t.held.Kind != "" {
		t.timer.Stop()
		t.held = Event{}
	}
	for len(s) > 0 {
		n := cut(s, maxText)
		t.write(Event{Kind: kind, Text: s[:n]})
		s = s[n:]
	}
}

// Tool records what is new of a call. A call whose state is terminal never becomes open again; a call without a state
// keeps its last one, pending at first.
func (t *Track) Tool(c ToolCall) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.exited() {
		return
	}
	known := t.calls[c.ID]
	switch {
	case known.Terminal(), c.State == "" && known != "":
		c.State = known
	case c.State == "":
		c.State = CallPending
	}
	t.calls[c.ID] = c.State
	c.Output = Clip(c.Output, maxText)
	if len(c.Input) > maxText {
		c.Input = quoted(Clip(string(c.Input), maxText))
	}
	t.emit(Event{Kind: EventToolCall, Tool: &c})
}

// Plan records the agent's whole plan.
func (t *Track) Plan(items []PlanItem) { t.one(Event{Kind: EventPlan, Plan: items}) }

// Diff records a change of a file as the agent told it.
func (t *Track) Diff(d Diff) {
	d.After = Clip(d.After, maxText)
	if d.Before != nil {
		b := Clip(*d.Before, maxText)
		d.Before = &b
	}
	t.one(Event{Kind: EventDiff, Diff: &d})
}

// Asked records a permission that is asked, Answered the same with its answer.
func (t *Track) Asked(ask PermissionAsk) {
	t.one(Event{Kind: EventPermission, Permission: &PermissionEvent{Ask: ask}})
}

// Answered records the answer to a permission.
func (t *Track) Answered(ask PermissionAsk, answer PermissionAnswer) {
	t.one(Event{Kind: EventPermission, Permission: &PermissionEvent{Ask: ask, Answer: &answer}})
}

// AddUsage records a model call; negative numbers count as zero.
func (t *Track) AddUsage(model string, delta Usage, raw json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.usage(model, delta.floor(), raw)
}

// SetUsage records a report that counts from the beginning of the execution. Numbers that fell change nothing.
func (t *Track) SetUsage(model string, total Usage, raw json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.usage(model, total.Over(t.log.snapshot().Usage), raw)
}

func (t *Track) usage(model string, delta Usage, raw json.RawMessage) {
	if t.exited() {
		return
	}
	total := t.log.snapshot().Usage.Add(delta)
	t.emit(Event{Kind: EventUsage, Usage: &UsageEvent{Model: model, Delta: delta, Total: total, Raw: bounded(raw)}})
}

// Stalled marks a turn without a sign of life.
func (t *Track) Stalled() { t.one(Event{Kind: EventStalled}) }

// Notice records anything else, with its raw form.
func (t *Track) Notice(text string, raw json.RawMessage) {
	t.one(Event{Kind: EventNotice, Text: Clip(text, maxText), Raw: bounded(raw)})
}

// Clip cuts the middle out of a text longer than limit bytes, and says so.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head := cut(s, limit/2)
	tail := len(s) - limit/2
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + fmt.Sprintf("\n… %d bytes left out …\n", tail-head) + s[tail:]
}

// cut returns the length of the longest beginning of s within limit that ends between characters.
func cut(s string, limit int) int {
	if len(s) <= limit {
		return len(s)
	}
	for n := limit; n > limit-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return n
		}
	}
	return limit
}

func bounded(raw json.RawMessage) json.RawMessage {
	if len(raw) <= maxText {
		return raw
	}
	return quoted(Clip(string(raw), maxText))
}

func quoted(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return b
}
