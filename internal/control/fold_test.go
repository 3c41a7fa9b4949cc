package control

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/program"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// folds checks that the journal of a task, folded from nothing, says what its rows say (property 8).
func (h *house) folds(task string) {
	h.t.Helper()
	if diff := h.foldDiff(task); diff != "" {
		h.t.Errorf("the journal of %s says something else than its rows (-rows +journal):\n%s", task, diff)
	}
}

// foldDiff is what the journal of a task says otherwise than its rows: all of it folded, and its halves one after the
// other from a snapshot that was stored in between.
func (h *house) foldDiff(task string) string {
	h.t.Helper()
	var whole, halves, want program.TaskState
	h.must(h.db.Read(h.t.Context(), func(tx *store.ReadTx) error {
		records, err := tx.ListRecords(task, 0, 100_000)
		if err != nil {
			return err
		}
		if whole, err = program.FoldAll(records); err != nil {
			return err
		}
		if halves, err = foldHalves(records); err != nil {
			return err
		}
		want, err = stateOf(tx, task)
		return err
	}))
	return cmp.Diff(want, whole, cmpopts.EquateEmpty()) + cmp.Diff(want, halves, cmpopts.EquateEmpty())
}

// foldHalves folds the second half of a journal from what was stored of the first.
func foldHalves(records []fairlead.Record) (s program.TaskState, err error) {
	half := len(records) / 2
	first, err := program.FoldAll(records[:half])
	if err != nil {
		return s, err
	}
	stored, err := json.Marshal(first)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(stored, &s); err != nil {
		return s, err
	}
	for _, r := range records[half:] {
		if s, err = program.Fold(s, r); err != nil {
			return s, err
		}
	}
	return s, nil
}

// stateOf reads from the rows what a fold says.
func stateOf(tx *store.ReadTx, id string) (program.TaskState, error) {
	row, err := tx.LoadTask(id)
	if err != nil {
		return program.TaskState{}, err
	}
	t := &row.Task
	s := program.TaskState{
		Seq: t.RecordSeq, Workflow: t.Workflow, Version: t.WorkflowVersion, Step: t.Step, Visit: t.Visit, Round: t.Round, Terminal: t.Terminal,
		Archived: !t.ArchivedAt.IsZero(), Held: t.Held, SignalVisit: t.SignalVisit, Priority: t.Priority, Agent: t.Agent, Labels: t.Labels,
		Seats: map[string]program.SeatState{}, Requests: map[string]bool{}, Deferred: map[int64]bool{}, Blockers: map[string]bool{},
		Children: map[string]bool{}, Decided: map[string]fairlead.Verdict{},
	}
	seats, err := tx.ListSeats(id, t.Visit)
	if err != nil {
		return s, err
	}
	for _, seat := range seats {
		if seat.RemovedAt.IsZero() {
			s.Seats[seat.ID] = program.SeatState{Role: seat.Role, Holder: seat.Holder(), Required: seat.DecisionRequired}
		}
	}
	decisions, err := tx.ListDecisions(id, t.Visit, t.Round)
	if err != nil {
		return s, err
	}
	for _, d := range decisions {
		if _, seated := s.Seats[d.Seat]; seated && d.Verdict != fairlead.VerdictComment {
			s.Decided[d.Seat] = d.Verdict
		}
	}
	return s, addOpen(tx, t, &s)
}

func addOpen(tx *store.ReadTx, t *fairlead.Task, s *program.TaskState) error {
	open, err := tx.OpenRequests(t.ID)
	if err != nil {
		return err
	}
	for _, q := range open {
		s.Requests[q.ID] = true
	}
	deferred, err := tx.ListDeferred(t.ID, t.Visit)
	if err != nil {
		return err
	}
	for _, d := range deferred {
		s.Deferred[d.Seq] = true
	}
	blockers, err := tx.ListBlockers(t.ID)
	if err != nil {
		return err
	}
	for _, b := range blockers {
		s.Blockers[b.Task] = true
	}
	children, err := tx.ListChildren(t.ID)
	for _, k := range children {
		s.Children[k.Task] = true
	}
	return err
}

// roundFlow has everything that a journal tells of: seats, rounds, requests, what is put aside, loops, children.
const roundFlow = `
workflow: round
name: Round
start: work
steps:
  - key: work
    name: Work
    on:
      enter: [{set: {add_labels: [busy]}}]
      comment: [{move: {to: review}}]
      manual:
        child: [{create_child: {workflow: panel, title: Child}}]
        ask: [{request_approval: {of: "person:owner"}}]
        spin: [{move: {to: spin}}]
  - key: review
    name: Review
    participants:
      - {role: reviewer, person: owner}
      - {role: reviewer, person: eve}
    on:
      enter: [{clear_decisions: {}}]
      manual:
        again: [{clear_decisions: {}}]
        ask: [{request_approval: {of: "person:owner"}}]
        spin: [{move: {to: spin}}]
      decision:
        - move: {to: work, if: 'quorum("reviewer", "any_reject")'}
        - move: {to: done, if: 'quorum("reviewer", "all_approve")'}
  - {key: spin, name: Spin, on: {enter: [{move: {to: spun, if: "task.priority == 'urgent'"}}]}}
  - {key: spun, name: Spun, on: {enter: [{move: {to: spin, if: "task.priority == 'urgent'"}}]}}
  - {key: done, name: Done, terminal: done}
`

// Properties 7 and 8 over random histories: the journal says what the rows say after every command, and a dry run plans
// what the real trigger then does.
func TestE27_JournalsOfRandomHistories(t *testing.T) {
	t.Parallel()
	storetest.EachWith(t, &store.Options{RunTwice: true}, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		_, err := h.c.AddPerson(t.Context(), owner(), fairlead.KeyNameBody{Key: "eve", Name: "Eve"})
		h.must(err)
		h.save(panelFlow)
		h.save(roundFlow)
		rapid.Check(t, func(rt *rapid.T) {
			s := &history{h: h, task: h.task("round").ID, other: h.task("panel").ID}
			actions := s.actions()
			names := slices.Sorted(maps.Keys(actions))
			for range rapid.IntRange(1, 15).Draw(rt, "length") {
				actions[rapid.SampledFrom(names).Draw(rt, "action")](rt)
				h.folds(s.task)
			}
		})
	})
}

// history is one task's random life.
type history struct {
	h           *house
	task, other string
	n           int
}

// allow passes what the rules may refuse; everything else is a fault.
func (s *history) allow(rt *rapid.T, err error) {
	switch fairlead.ErrorCode(err) {
	case "", fairlead.CodeConflict, fairlead.CodeRefused, fairlead.CodeNotFound, fairlead.CodeForbidden, fairlead.CodeInvalid:
	default:
		rt.Fatalf("got %v", err)
	}
}

func (s *history) actions() map[string]func(*rapid.T) {
	ctx, c := s.h.t.Context(), s.h.c
	return map[string]func(*rapid.T){
		"comment": func(rt *rapid.T) {
			s.n++
			_, err := c.Comment(ctx, owner(), s.task, fairlead.CommentBody{Text: fmt.Sprint("comment ", s.n)})
			s.allow(rt, err)
		},
		"decide": func(rt *rapid.T) {
			who := rapid.SampledFrom([]string{"owner", "eve"}).Draw(rt, "who")
			verdict := rapid.SampledFrom([]string{"approve", "reject", "comment"}).Draw(rt, "verdict")
			_, err := c.Decide(ctx, asPerson(who), s.task, fairlead.DecisionBody{Verdict: verdict})
			s.allow(rt, err)
		},
		"move": func(rt *rapid.T) {
			to := rapid.SampledFrom([]string{"work", "review", "spin", "done"}).Draw(rt, "to")
			_, err := c.Move(ctx, owner(), s.task, fairlead.MoveBody{Step: to})
			s.allow(rt, err)
		},
		"trigger":  s.trigger,
		"answer":   s.answer,
		"patch":    s.patch,
		"slate":    s.slate,
		"blockers": s.blockers,
	}
}

// trigger fires a manual trigger after a dry run of it, and holds the two plans against each other.
func (s *history) trigger(rt *rapid.T) {
	key := rapid.SampledFrom([]string{"child", "ask", "spin", "again"}).Draw(rt, "key")
	body := fairlead.TriggerBody{Kind: fairlead.TriggerManual, Key: key}
	dry, dryErr := s.h.c.Trigger(s.h.t.Context(), owner(), s.task, body, true)
	real, err := s.h.c.Trigger(s.h.t.Context(), owner(), s.task, body, false)
	s.allow(rt, err)
	if err != nil || dryErr != nil {
		return
	}
	if diff := cmp.Diff(shape(real), shape(dry)); diff != "" {
		rt.Fatalf("the dry run planned something else (-real +dry):\n%s", diff)
	}
}

// anyID matches what a dry run draws from another seed.
var anyID = regexp.MustCompile(`[a-z]{2,3}_[0-9a-z]{26}`)

// shape is a plan without its ids.
func shape(o fairlead.Outcome) []string {
	out := []string{fmt.Sprint(o.Moved, o.Deferred, o.Held, o.Visit, o.Step)}
	for _, e := range o.Effects {
		out = append(out, fmt.Sprint(e.Kind, e.Data["kind"], e.Data["step"], e.Data["title"], e.Data["holder"]))
	}
	for _, e := range o.Explanation {
		out = append(out, anyID.ReplaceAllString(fmt.Sprint(e), "ID"))
	}
	return out
}

func (s *history) answer(rt *rapid.T) {
	for _, q := range s.h.open(s.task) {
		a := fairlead.Answer{Verdict: rapid.SampledFrom([]string{"approve", "reject"}).Draw(rt, "verdict")}
		if q.Kind == fairlead.RequestSupervise {
			a = fairlead.Answer{Option: "go_on"}
		}
		_, err := s.h.c.Answer(s.h.t.Context(), owner(), q.ID, fairlead.AnswerBody{Answer: a})
		s.allow(rt, err)
	}
}

func (s *history) patch(rt *rapid.T) {
	p := rapid.SampledFrom([]fairlead.Priority{"urgent", "low"}).Draw(rt, "priority")
	labels := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 0, 2).Draw(rt, "labels")
	_, err := s.h.c.UpdateTask(s.h.t.Context(), owner(), s.task, fairlead.TaskPatch{Priority: &p, Labels: &labels})
	s.allow(rt, err)
}

// slate adds the agent coder as a reviewer, or takes the first seat away.
func (s *history) slate(rt *rapid.T) {
	ctx, c := s.h.t.Context(), s.h.c
	if rapid.Bool().Draw(rt, "add") {
		_, err := c.AddParticipant(ctx, owner(), s.task, fairlead.ParticipantBody{NewParticipant: fairlead.NewParticipant{Role: "reviewer", Agent: "coder"}})
		s.allow(rt, err)
		return
	}
	if seats := s.h.see(s.task).Seats; len(seats) > 0 {
		_, err := c.RemoveParticipant(ctx, owner(), s.task, seats[0].ID, fairlead.OpBody{})
		s.allow(rt, err)
	}
}

func (s *history) blockers(rt *rapid.T) {
	ctx, c := s.h.t.Context(), s.h.c
	if rapid.Bool().Draw(rt, "add") {
		_, err := c.AddBlocker(ctx, owner(), s.task, fairlead.BlockerBody{BlockedBy: s.other})
		s.allow(rt, err)
		return
	}
	_, err := c.RemoveBlocker(ctx, owner(), s.task, s.other, fairlead.OpBody{})
	s.allow(rt, err)
}
