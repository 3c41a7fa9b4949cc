package control

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// askingWorkflow has one step of work that the end of a good turn completes.
const askingWorkflow = `
workflow: asking
name: Asking
start: work
steps:
  - key: work
    name: Work
    agent: coder
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
      turn_complete: [{move: {to: done}}]
  - {key: done, name: Done, terminal: done}
`

// desk is a house with a node that works on runs.
type desk struct {
	*house
	node Node
	seq  int64
}

func newDesk(t *testing.T, db *store.DB) *desk {
	t.Helper()
	h := newHouse(t, db)
	h.save(askingWorkflow)
	n, err := db.BeginEpoch(t.Context(), fairlead.Node{ID: "nod_test", Host: "test", PID: 1, Slots: 4})
	h.must(err)
	return &desk{house: h, node: Node{ID: n.ID, Epoch: n.Epoch}}
}

// turn claims the next run and starts its turn.
func (d *desk) turn() *Claimed {
	d.t.Helper()
	k, err := d.c.Claim(d.t.Context(), d.node)
	d.must(err)
	if k == nil {
		d.t.Fatal("got no run to claim")
	}
	d.seq = 1
	_, err = d.c.Report(d.t.Context(), Report{
		Run: k.Run.ID, Fence: k.Run.Fence, Node: d.node, Seq: d.seq, Facts: []Fact{{Turn: &TurnStarted{Through: k.Through, Prompt: "go"}}},
	})
	d.must(err)
	return k
}

// end ends a turn well, its processes with it.
func (d *desk) end(k *Claimed) {
	d.t.Helper()
	d.must(d.tryEnd(k))
}

func (d *desk) tryEnd(k *Claimed) error {
	_, err := d.c.Report(d.t.Context(), Report{
		Run: k.Run.ID, Fence: k.Run.Fence, Node: d.node, Seq: d.seq + 1, End: &TurnEnd{StopReason: "end_turn"}, TreeDead: true,
	})
	return err
}

// agent is the agent of a claimed run, as its tools act.
func agent(k *Claimed) Meta {
	fence := k.Run.Fence
	return Meta{
		Workspace: k.Run.Workspace, Fence: &fence,
		Actor: fairlead.Actor{Kind: fairlead.ActorAgent, Key: k.Run.Agent, Assignment: k.Run.Assignment, Run: k.Run.ID},
	}
}

func (d *desk) ask(k *Claimed, prompt string) fairlead.RequestView {
	d.t.Helper()
	v, err := d.c.Ask(d.t.Context(), agent(k), fairlead.AskBody{Prompt: prompt})
	d.must(err)
	return v
}

// queued lists the queued runs of a task.
func (d *desk) queued(task string) []fairlead.RunView {
	d.t.Helper()
	p, err := d.c.ListRuns(d.t.Context(), mainWorkspace, RunQuery{Task: task, Status: string(fairlead.RunQueued)})
	d.must(err)
	return p.Items
}

// oneWake checks that a task has one queued run with one wake, which is an answer, and returns the wake's payload.
func (d *desk) oneWake(task string) map[string]any {
	d.t.Helper()
	runs := d.queued(task)
	if len(runs) != 1 || len(runs[0].Wakes) != 1 || runs[0].Wakes[0].Reason != reasonAnswer {
		d.t.Fatalf("got queued runs %+v, want one with one wake by an answer", runs)
	}
	return runs[0].Wakes[0].Payload
}

func TestQ1_AnAnswerInTheSameInstantIsNeverLost(t *testing.T) {
	t.Parallel()
	rounds := 500
	if testing.Short() {
		rounds = 50
	}
	storetest.Backends(t, func(t *testing.T, b storetest.Backend) {
		d := newDesk(t, b.Open(t, nil))
		task := d.task("asking")
		for i := range rounds {
			k := d.turn()
			answered := make(chan error, 1)
			go func() { answered <- d.answerAtOnce(task.ID) }()
			q := d.ask(k, "Which colour?")
			d.end(k)
			d.must(<-answered)
			got, err := d.c.GetRequest(t.Context(), mainWorkspace, q.ID)
			d.must(err)
			if got.State != fairlead.RequestAnswered || d.oneWake(task.ID)["text"] != "blue" {
				t.Fatalf("round %d: got %+v", i, got)
			}
			a, err := d.assignment(k.Run.Assignment)
			d.must(err)
			if a.State != fairlead.AssignmentOpen || a.ParkRequested {
				t.Fatalf("round %d: the asker is %s, park requested %v; want it open", i, a.State, a.ParkRequested)
			}
		}
		if v := d.see(task.ID); v.Step != "work" || v.Visit != 1 {
			t.Errorf("got step %s in visit %d: a turn that asked has completed", v.Step, v.Visit)
		}
		d.end(d.turn())
		if v := d.see(task.ID); v.Step != "done" {
			t.Errorf("got step %s, want done: the turn of the last answer completes", v.Step)
		}
	})
}

// answerAtOnce answers the first request of a task that anybody can see.
func (d *desk) answerAtOnce(task string) error {
	signals := d.db.Signals()
	defer signals.Close()
	for {
		p, err := d.c.ListRequests(d.t.Context(), mainWorkspace, RequestQuery{Task: task})
		if err != nil {
			return err
		}
		if len(p.Items) > 0 {
			_, err := d.c.Answer(d.t.Context(), owner(), p.Items[0].ID, fairlead.AnswerBody{Answer: fairlead.Answer{Text: "blue"}})
			return err
		}
		select {
		case <-signals.C(store.TopicEvents):
		case <-d.t.Context().Done():
			return d.t.Context().Err()
		}
	}
}

func (d *desk) assignment(id string) (a fairlead.Assignment, err error) {
	err = d.db.Read(d.t.Context(), func(tx *store.ReadTx) (err error) {
		a, err = tx.LoadAssignment(id)
		return err
	})
	return a, err
}

func TestQ3_EveryResolutionReachesItsAskerOnceWithItsText(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name    string
		resolve func(h *house, id string)
		outcome string
		text    any
	}{
		{"answer", func(h *house, id string) { h.answer(id, fairlead.Answer{Text: "yes"}) }, "answered", "yes"},
		{"decline", func(h *house, id string) { h.answer(id, fairlead.Answer{Decline: true, Text: "not mine"}) }, "declined", "not mine"},
		{"expire", func(h *house, id string) { h.close(id, fairlead.RequestExpired) }, "expired", nil},
		{"withdraw", func(h *house, id string) { h.close(id, fairlead.RequestWithdrawn) }, "withdrawn", nil},
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		for _, x := range cases {
			task := d.task("asking")
			k := d.turn()
			q := d.ask(k, "May I?")
			d.end(k)
			if a, err := d.assignment(k.Run.Assignment); err != nil || a.State != fairlead.AssignmentParked {
				t.Fatalf("%s: the asker is %s, %v; want it parked", x.name, a.State, err)
			}
			x.resolve(d.again(), q.ID)
			p := d.oneWake(task.ID)
			if p["request"] != q.ID || p["outcome"] != x.outcome || p["text"] != x.text {
				t.Errorf("%s: got the wake %v, want outcome %s with text %v", x.name, p, x.outcome, x.text)
			}
			d.end(d.turn())
			if v := d.see(task.ID); v.Step != "done" {
				t.Errorf("%s: got step %s, want done", x.name, v.Step)
			}
		}
	})
}

// close resolves a request as no door does: a deadline or a withdrawal.
func (h *house) close(id string, state fairlead.RequestState) {
	h.t.Helper()
	q, err := h.c.GetRequest(h.t.Context(), mainWorkspace, id)
	h.must(err)
	m := Meta{Workspace: mainWorkspace, Actor: fairlead.Engine()}
	_, err = do(h.t.Context(), h.c, m, command{name: "close request", task: q.Task}, func(w *work) (struct{}, error) {
		q, err := w.tx.LoadRequest(id)
		if err != nil {
			return struct{}{}, err
		}
		_, err = w.resolve(q, state, nil, "test")
		return struct{}{}, err
	})
	h.must(err)
}

func TestQ4_RequestsOfOneTaskAreIndependent(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		task := d.task("asking")
		k := d.turn()
		var ids []string
		for _, prompt := range []string{"one", "two", "three"} {
			ids = append(ids, d.ask(k, prompt).ID)
		}
		d.end(k)
		bytes := func(id string) string {
			v, err := d.c.GetRequest(t.Context(), mainWorkspace, id)
			d.must(err)
			b, err := json.Marshal(v)
			d.must(err)
			return string(b)
		}
		for i := 2; i >= 0; i-- {
			var siblings []string
			for j, id := range ids {
				if j != i {
					siblings = append(siblings, bytes(id))
				}
			}
			d.again().answer(ids[i], fairlead.Answer{Text: "to " + ids[i]})
			for j, id := range ids {
				if j == i {
					continue
				}
				if diff := cmp.Diff(siblings[0], bytes(id)); diff != "" {
					t.Errorf("answering one changed its sibling:\n%s", diff)
				}
				siblings = siblings[1:]
			}
			if i > 0 && len(d.queued(task.ID)) > 0 {
				t.Error("the asker was woken although questions are open")
			}
			if i > 0 && d.see(task.ID).State != fairlead.StateNeedsYou {
				t.Errorf("got state %s, want needs_you", d.see(task.ID).State)
			}
		}
		d.oneWake(task.ID)
	})
}

func TestAskingVoidsWhatTheTurnDeclaredAndRefusesWhatCannotBeAnswered(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := newDesk(t, db)
		d.task("asking")
		k := d.turn()
		for name, b := range map[string]fairlead.AskBody{
			"empty":           {},
			"kind":            {Kind: fairlead.RequestApproval, Prompt: "x"},
			"one option":      {Prompt: "x", Options: []fairlead.Option{{ID: "a"}}},
			"option twice":    {Prompt: "x", Options: []fairlead.Option{{ID: "a"}, {ID: "a"}}},
			"options of text": {Kind: fairlead.RequestQuestion, Prompt: "x", Options: []fairlead.Option{{ID: "a"}, {ID: "b"}}},
			"schema":          {Prompt: "x", Schema: json.RawMessage(`{"type": 7}`)},
			"schema loops":    {Prompt: "x", Schema: json.RawMessage(`{"$ref": "#"}`)},
			"schema meta":     {Prompt: "x", Schema: json.RawMessage(`{"$schema": "file:///etc/passwd", "type": "object"}`)},
			"schema reads":    {Prompt: "x", Schema: json.RawMessage(`{"$ref": "file:///etc/passwd"}`)},
			"nobody":          {Prompt: "x", Of: []string{"person:nobody"}},
			"an agent":        {Prompt: "x", Of: []string{"agent:reviewer"}},
		} {
			if _, err := d.c.Ask(t.Context(), agent(k), b); !fairlead.IsCode(err, fairlead.CodeInvalid) {
				t.Errorf("%s: got %v, want invalid", name, err)
			}
		}
		_, err := d.c.Ask(t.Context(), owner(), fairlead.AskBody{Prompt: "x"})
		refused(t, err, fairlead.CodeForbidden)
		stale := agent(k)
		stale.Fence = &fairlead.Fence{Number: k.Run.Fence.Number, Claim: "forged"}
		_, err = d.c.Ask(t.Context(), stale, fairlead.AskBody{Prompt: "x"})
		refused(t, err, fairlead.CodeForbidden)
		m := agent(k)
		m.Op = "question-1"
		first, err := d.c.Ask(t.Context(), m, fairlead.AskBody{Prompt: "x"})
		d.must(err)
		again, err := d.c.Ask(t.Context(), m, fairlead.AskBody{Prompt: "x"})
		d.must(err)
		if first.ID != again.ID || len(d.open(k.Task.ID)) != 1 {
			t.Error("the same question sent again is a second one")
		}
		for range questionsOpen - 1 {
			d.ask(k, "more")
		}
		_, err = d.c.Ask(t.Context(), agent(k), fairlead.AskBody{Prompt: "too many"})
		refused(t, err, fairlead.CodeRefused)
	})
}
