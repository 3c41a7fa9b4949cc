package control

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// write lets somebody write to a task, and returns what that answered.
func (h *house) write(m Meta, task, text string) (answered string) {
	h.t.Helper()
	answered, err := do(h.t.Context(), h.c, m, command{name: "write", task: task, body: text}, func(w *work) (string, error) {
		q, err := w.answerByComment(text)
		if err != nil || q == nil {
			return "", err
		}
		return q.ID, nil
	})
	h.must(err)
	return answered
}

func TestWritingToATaskAnswersItsOnlyQuestion(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		task := d.task("asking")
		k := d.turn()
		if got := d.write(owner(), task.ID, "hello"); got != "" {
			t.Errorf("got %s answered where nothing was asked", got)
		}
		one, two := d.ask(k, "one?"), d.ask(k, "two?")
		d.end(k)
		if got := d.write(owner(), task.ID, "which?"); got != "" {
			t.Errorf("got %s answered although two questions are open", got)
		}
		d.answer(one.ID, fairlead.Answer{Text: "1"})
		for _, m := range []Meta{asPerson("stranger"), {Workspace: mainWorkspace, Actor: fairlead.Actor{Kind: fairlead.ActorClient, Key: "ci"}}} {
			if got := d.write(m, task.ID, "not mine"); got != "" {
				t.Errorf("%s answered %s", m.Actor, got)
			}
		}
		if got := d.write(owner(), task.ID, "2"); got != two.ID {
			t.Errorf("got %q answered, want %s", got, two.ID)
		}
		if p := d.oneWake(task.ID); p["text"] != "2" {
			t.Errorf("got the wake %v, want the text", p)
		}
		j, err := d.c.Journal(t.Context(), mainWorkspace, task.ID, 0, 200)
		d.must(err)
		ways := 0
		for _, r := range j.Items {
			if r.Kind == fairlead.RecordRequestResolved && strings.Contains(string(r.Data), `"reason":"comment"`) {
				ways++
			}
		}
		if ways != 1 {
			t.Errorf("got %d records that say it was a comment, want 1", ways)
		}
	})
}

func TestQ5_AnOpenRequestStopsEveryAdvance(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		ctx := t.Context()
		task := d.task("asking")
		k := d.turn()
		q := d.put(task.ID, fairlead.Request{
			Kind: fairlead.RequestApproval, Prompt: "Ship it?", Blocks: fairlead.BlocksTask, AskedOf: []string{"person:owner"}, OpenedBy: fairlead.Engine(),
		})
		still := func(what string) {
			t.Helper()
			if v := d.see(task.ID); v.Step != "work" || v.Visit != 1 || len(v.OpenRequests) != 1 || v.State != fairlead.StateNeedsYou {
				t.Fatalf("after %s: step %s, visit %d, open %v, state %s", what, v.Step, v.Visit, v.OpenRequests, v.State)
			}
		}
		_, err := d.c.Move(ctx, agent(k), task.ID, fairlead.MoveBody{Step: "done"})
		d.must(err)
		still("the agent's own move")
		d.end(k)
		still("the end of the turn")
		_, err = d.c.Comment(ctx, Meta{Workspace: mainWorkspace, Actor: fairlead.Actor{Kind: fairlead.ActorClient, Key: "ci"}}, task.ID, fairlead.CommentBody{Text: "build is green"})
		d.must(err)
		still("an unrelated message")
		d.end(d.turn())
		still("another turn")
		d.must(d.again().c.DeliverOutbox(ctx))
		still("a restart")
		d.answer(q, fairlead.Answer{Verdict: "approve"})
		if v := d.see(task.ID); v.Step != "done" || len(v.OpenRequests) != 0 {
			t.Errorf("after the answer: step %s, open %v; want done: what was put aside is replayed", v.Step, v.OpenRequests)
		}
	})
}

func TestQ5_AnAgentWithAnOpenQuestionNeitherCompletesNorMoves(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		task := d.task("asking")
		k := d.turn()
		_, err := d.c.Move(t.Context(), agent(k), task.ID, fairlead.MoveBody{Step: "done"})
		d.must(err)
		d.ask(k, "Really?")
		a, err := d.assignment(k.Run.Assignment)
		d.must(err)
		if a.OwnMove != nil || !a.ParkRequested {
			t.Errorf("got own move %v, park requested %v; the question takes the move back", a.OwnMove, a.ParkRequested)
		}
		_, err = d.c.Move(t.Context(), agent(k), task.ID, fairlead.MoveBody{Step: "done"})
		if !fairlead.IsCode(err, fairlead.CodeRefused) && !fairlead.IsCode(err, fairlead.CodeConflict) {
			t.Errorf("got %v, want the move refused while the question is open", err)
		}
		d.end(k)
		if v := d.see(task.ID); v.Step != "work" {
			t.Errorf("got step %s, want work", v.Step)
		}
	})
}
