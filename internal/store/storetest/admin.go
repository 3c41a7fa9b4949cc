package storetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

func blockers(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "tsk_1", "tsk_2", "tsk_3")
	child := plainTask("tsk_4", 4)
	child.Parent, child.Terminal = "tsk_3", fairlead.TerminalDone
	write(t, db, func(tx *store.Tx) error {
		if err := first(tx.LockWorkspace("w"), tx.InsertTask(child)); err != nil {
			return err
		}
		for _, want := range []bool{true, false} {
			ok, err := tx.InsertBlocker(fairlead.Blocker{Task: "tsk_1", BlockedBy: "tsk_2", By: fairlead.Person("anna"), At: at})
			if err != nil || ok != want {
				t.Errorf("blocker added %v, want %v (%v)", ok, want, err)
			}
		}
		_, err := tx.InsertBlocker(fairlead.Blocker{Task: "tsk_2", BlockedBy: "tsk_3", By: fairlead.Person("anna"), At: at})
		return err
	})
	read(t, db, func(r *store.ReadTx) error {
		list, err := r.ListBlockers("tsk_1")
		if len(list) != 1 || list[0].Task != "tsk_2" || list[0].Identifier != "FL-2" || list[0].Outcome() != "" {
			t.Errorf("blockers: %+v", list)
		}
		who, err1 := r.BlockedBy("tsk_3")
		same(t, "blocked", []string{"tsk_2"}, who)
		children, err2 := r.ListChildren("tsk_3")
		if len(children) != 1 || children[0].Outcome() != fairlead.TerminalDone {
			t.Errorf("children: %+v", children)
		}
		way, err3 := r.PathTo("w", "tsk_1", "tsk_4")
		same(t, "way through blockers and children", []string{"FL-1", "FL-2", "FL-3", "FL-4"}, way)
		none, err4 := r.PathTo("w", "tsk_4", "tsk_1")
		same(t, "no way back", nil, none)
		self, err5 := r.PathTo("w", "tsk_1", "tsk_1")
		same(t, "way to itself", []string{"FL-1"}, self)
		return first(err, err1, err2, err3, err4, err5)
	})
	write(t, db, func(tx *store.Tx) error {
		for _, want := range []bool{true, false} {
			ok, err := tx.DeleteBlocker("tsk_1", "tsk_2")
			if err != nil || ok != want {
				t.Errorf("blocker removed %v, want %v (%v)", ok, want, err)
			}
		}
		return nil
	})
}

func outbox(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1", "T2")
	c := fairlead.Comment{ID: "com_1", Task: "T1", Visit: 1, Author: agentActor, Text: "hi", Seq: 7, At: at}
	n := fairlead.Notice{ID: "not_1", Workspace: "w", Task: "T1", Visit: 1, Kind: "agent_error", Text: "x", Data: map[string]any{"a": "b"}, At: at}
	a := fairlead.Audit{ID: "aud_1", Workspace: "w", Actor: agentActor, Op: "op", Command: "move task", Task: "T1", Run: "run_1", Code: fairlead.CodeForbidden, Message: "no", At: at}
	write(t, db, func(tx *store.Tx) error {
		for _, o := range []fairlead.Outbox{
			{Workspace: "w", Task: "T2", Op: "o1", Kind: fairlead.OutboxEnter, Payload: json.RawMessage(`{"x":1}`)},
			{Workspace: "w", Task: "T1", Op: "o1", Kind: fairlead.OutboxRecheck},
			{Workspace: "w", Task: "T1", Op: "o1", Kind: fairlead.OutboxRecheck},
			{Workspace: "w", Task: "T1", Op: "o2", Kind: fairlead.OutboxNotify},
		} {
			if err := tx.InsertOutbox(o); err != nil {
				return err
			}
		}
		return first(tx.InsertComment(c), tx.InsertNotice(n), tx.InsertDeferred("T1", 3, 1, []byte(`{"k":1}`)), tx.InsertDeferred("T1", 2, 1, []byte(`{}`)),
			tx.InsertTold("T1", "blocker", "T2", 1), tx.InsertTold("T1", "blocker", "T2", 1))
	})
	if err := first(db.Audit(t.Context(), a), db.Audit(t.Context(), a)); err != nil {
		t.Error(err)
	}
	var waiting []fairlead.Outbox
	read(t, db, func(r *store.ReadTx) error {
		list, err := r.OutboxTasks(10)
		same(t, "tasks with an outbox", []store.OutboxTask{{Workspace: "w", Task: "T2"}, {Workspace: "w", Task: "T1"}}, list)
		notifies, err1 := r.PendingNotifies(10)
		same(t, "messages to the outside", 1, len(notifies))
		var err2 error
		waiting, err2 = r.UndeliveredOutbox("T1")
		same(t, "undelivered", 1, len(waiting))
		deferred, err3 := r.ListDeferred("T1", 1)
		same(t, "deferred", []store.DeferredRow{{Seq: 2, Visit: 1, Trigger: []byte(`{}`)}, {Seq: 3, Visit: 1, Trigger: []byte(`{"k":1}`)}}, deferred)
		told, err4 := r.ListTold("T1")
		same(t, "told", []store.Told{{Kind: "blocker", Other: "T2", Visit: 1}}, told)
		comments, err5 := r.ListComments("T1", 0, 10)
		same(t, "comments", []fairlead.Comment{c}, comments)
		notices, _, err6 := r.ListNotices("w", true, store.Page{})
		same(t, "notices", []fairlead.Notice{n}, notices)
		has, err7 := r.HasNotice("T1", 1, "agent_error")
		same(t, "has the notice", true, has)
		audit, err8 := r.ListAudit("T1")
		same(t, "audit", []fairlead.Audit{a}, audit)
		return first(err, err1, err2, err3, err4, err5, err6, err7, err8)
	})
	write(t, db, func(tx *store.Tx) error {
		done, err := tx.DoneNotice("not_1")
		same(t, "notice done", true, done)
		ok, err2 := tx.TakeOutbox(waiting[0].ID, waiting[0].Attempts)
		again, err3 := tx.TakeOutbox(waiting[0].ID, waiting[0].Attempts)
		if !ok || again {
			t.Errorf("got a try %v and the same again %v, want it given once", ok, again)
		}
		return first(err, err2, err3, tx.OutboxDone(waiting[0].ID, "refused"), tx.DeleteDeferred("T1", 2))
	})
	read(t, db, func(r *store.ReadTx) error {
		rows, err := r.UndeliveredOutbox("T1")
		same(t, "undelivered", 0, len(rows))
		deferred, err1 := r.ListDeferred("T1", 1)
		same(t, "deferred", 1, len(deferred))
		notices, _, err2 := r.ListNotices("w", true, store.Page{})
		same(t, "notices", 0, len(notices))
		every, _, err3 := r.ListNotices("w", false, store.Page{})
		same(t, "notices, done ones too", 1, len(every))
		return first(err, err1, err2, err3)
	})
}

func agents(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db)
	a := fairlead.AgentProfile{Workspace: "w", Key: "boss", Adapter: "script", Command: []string{"x"}, Duty: "ceo", Parallel: 2, Labels: []string{"gpu"}, Limits: map[string]any{"a": "b"}, Script: json.RawMessage(`[1]`)}
	write(t, db, func(tx *store.Tx) error {
		return first(tx.UpsertAgent(&a), tx.SetAgentPaused("w", "boss", true, "tired"), tx.UpsertAgent(&a), tx.BumpRevision("w"), tx.BumpRevision("w"))
	})
	if !a.Paused || a.PauseReason != "tired" || a.Version != 3 {
		t.Errorf("applying again gave %+v: it must stay paused, with a new version", a)
	}
	v := fairlead.WorkflowVersion{Workspace: "w", Key: "kanban", Version: 1, Name: "K", Style: "kanban", Source: "s", Digest: "d", By: fairlead.Person("anna"), At: at}
	v2 := v
	v2.Version, v2.Source = 2, "s2"
	tok := fairlead.Token{ID: "tok_1", Workspace: "", Kind: fairlead.ActorPerson, Key: "owner", Hash: "h1", Home: "/h", CreatedAt: at}
	p := fairlead.PersonRecord{Workspace: "w", Key: "anna", Name: "Anna", CreatedAt: at}
	write(t, db, func(tx *store.Tx) error {
		for _, want := range []bool{true, false} {
			ok, err := tx.InsertToken(&tok)
			known, err1 := tx.InsertPerson(&p)
			if ok != want || known != want || first(err, err1) != nil {
				t.Errorf("token %v and person %v added, want %v", ok, known, want)
			}
		}
		return first(tx.InsertWorkflowVersion(&v), tx.InsertWorkflowVersion(&v2))
	})
	for _, again := range []fairlead.WorkflowVersion{v, v2, {Workspace: "w", Key: "kanban", Version: 4}, {Workspace: "w", Key: "new", Version: 2}} {
		stale(t, fmt.Sprint("workflow version ", again.Version), db.Write(t.Context(), func(tx *store.Tx) error { return tx.InsertWorkflowVersion(&again) }))
	}
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.LoadAgent("w", "boss")
		same(t, "agent", a, got)
		list, err1 := r.ListAgents("w")
		same(t, "agents", 3, len(list))
		duties, err2 := r.Duties("w")
		same(t, "duties", map[string]string{"ceo": "boss"}, duties)
		revision, err3 := r.Revision("w")
		same(t, "revision", 2, revision)
		current, err4 := r.CurrentWorkflow("w", "kanban")
		same(t, "current workflow", v2, current)
		old, err5 := r.WorkflowVersion("w", "kanban", 1)
		same(t, "first version", v, old)
		flows, err6 := r.ListWorkflows("w")
		same(t, "workflows", []fairlead.WorkflowVersion{v2}, flows)
		found, err7 := r.TokenByHash("h1")
		same(t, "token", &tok, found)
		none, err8 := r.TokenByHash("h2")
		same(t, "no token", nil, none)
		people, err9 := r.ListPeople("w")
		same(t, "people", []fairlead.PersonRecord{p}, people)
		prefix, err10 := r.Prefix("w")
		same(t, "prefix", "FL", prefix)
		return first(err, err1, err2, err3, err4, err5, err6, err7, err8, err9, err10)
	})
}

func timers(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	tm := fairlead.Timer{ID: "tmr_1", Workspace: "w", Kind: fairlead.TimerRunDue, Task: "T1", Ref: "run_1", DueAt: at, Payload: json.RawMessage(`{"a":1}`)}
	write(t, db, func(tx *store.Tx) error { return tx.PutTimer(&tm) })
	again := tm
	again.ID, again.DueAt = "tmr_2", at.Add(-time.Hour)
	write(t, db, func(tx *store.Tx) error { return tx.PutTimer(&again) })
	if again.ID != "tmr_1" || again.Generation != 2 {
		t.Errorf("setting again gave %+v, want a new generation of the first", again)
	}
	read(t, db, func(r *store.ReadTx) error {
		next, err := r.NextTimers(5)
		same(t, "next", []fairlead.Timer{again}, next)
		return err
	})
	fire := func(generation int64) (ok bool) {
		write(t, db, func(tx *store.Tx) (err error) { ok, err = tx.FireTimer("tmr_1", generation); return err })
		return ok
	}
	same(t, "fires of generations 1, 2, 2", []bool{false, true, false}, []bool{fire(1), fire(2), fire(2)})
	nodes(t, db)
}

func nodes(t *testing.T, db *store.DB) {
	var wg sync.WaitGroup
	epochs := make([]int64, 4)
	for i := range epochs {
		wg.Go(func() {
			n, err := db.BeginEpoch(t.Context(), fairlead.Node{ID: fmt.Sprint("n", i), Host: "h", PID: 1, Labels: []string{"a"}, Slots: 2})
			if err != nil {
				t.Errorf("begin epoch: %v", err)
			}
			epochs[i] = n.Epoch
		})
	}
	wg.Wait()
	seen := map[int64]string{}
	for i, e := range epochs {
		seen[e] = fmt.Sprint("n", i)
	}
	if len(seen) != 4 || seen[4] == "" {
		t.Fatalf("epochs %v, want 1 to 4", epochs)
	}
	last := seen[4]
	write(t, db, func(tx *store.Tx) error {
		if _, err := tx.LockNode(last, 4); err != nil {
			return err
		}
		alive, err := tx.Beat(last, 4)
		same(t, "beat", true, alive)
		return err
	})
	read(t, db, func(r *store.ReadTx) error {
		live, err := r.LiveNodes()
		want := 4
		if db.Dialect() == "sqlite" {
			want = 1 // one process has the home: earlier starts are dead
		}
		if len(live) != want || live[len(live)-1].Counter != 1 {
			t.Errorf("live nodes: %+v", live)
		}
		every, err1 := r.ListNodes()
		same(t, "nodes", 4, len(every))
		return first(err, err1)
	})
	var dead []bool
	for range 2 {
		write(t, db, func(tx *store.Tx) error {
			ok, err := tx.MarkDead(last, 4)
			dead = append(dead, ok)
			return err
		})
	}
	same(t, "declared dead", []bool{true, false}, dead)
	err := db.Write(t.Context(), func(tx *store.Tx) error { _, err := tx.LockNode(last, 4); return err })
	if !fairlead.IsCode(err, fairlead.CodeConflict) {
		t.Errorf("a dead node's lock: got %v", err)
	}
	write(t, db, func(tx *store.Tx) error {
		alive, err := tx.Beat(last, 4)
		same(t, "beat of the dead", false, alive)
		return err
	})
}

func dump(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1")
	take := func() []byte {
		t.Helper()
		d, err := db.Dump(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	before := take()
	for _, s := range []string{"# tasks 1\n", "# agents 2\n", "FL-1"} {
		if !bytes.Contains(before, []byte(s)) {
			t.Errorf("the dump lacks %q", s)
		}
	}
	if got := take(); !bytes.Equal(before, got) {
		t.Error("two dumps of one state differ")
	}
	write(t, db, func(tx *store.Tx) error { return tx.BumpRevision("w") })
	if got := take(); bytes.Equal(before, got) {
		t.Error("a change does not show in the dump")
	}
}
