package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// same fails the test when a value does not come back as it went in.
func same[T any](t testing.TB, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// stale fails the test unless the error is a lost compare and swap.
func stale(t testing.TB, what string, err error) {
	t.Helper()
	if !fairlead.IsCode(err, fairlead.CodeStale) {
		t.Errorf("%s: got %v, want stale", what, err)
	}
}

var agentActor = fairlead.Actor{Kind: fairlead.ActorAgent, Key: "coder", Assignment: "asg_1", Run: "run_1"}

func fullTask() *store.TaskRow {
	return &store.TaskRow{Task: fairlead.Task{
		ID: "tsk_full", Workspace: "w", Number: 77, Identifier: "FL-77", Workflow: "office", WorkflowVersion: 3, Step: "review", Visit: 4, Round: 2,
		Terminal: fairlead.TerminalDone, Title: `Ünïcode "quoted"`, Description: "line\nÄnderung", Requirements: []string{"a", "b"},
		Priority: fairlead.PriorityUrgent, Position: 12.25, Labels: []string{"project:x", `odd","label`}, Parent: "tsk_p", Origin: fairlead.OriginAgent,
		Creator: agentActor, Agent: "coder", Repository: &fairlead.Repository{Path: "/r", Base: "main"}, Metadata: map[string]any{"k": "v", "n": 1.5},
		CancelledBlocker: fairlead.CancelledKeeps, Ephemeral: true, Coordination: "ada", Held: fairlead.HeldLoop, PersonVisit: 2, SignalVisit: 3,
		RecordSeq: 9, ArchivedAt: at, MovedAt: at.Add(time.Second), CreatedAt: at.Add(2 * time.Second), UpdatedAt: at.Add(3 * time.Second), Version: 1,
	}}
}

func tasks(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "tsk_1", "tsk_2", "tsk_3")
	want := fullTask()
	write(t, db, func(tx *store.Tx) error { return tx.InsertTask(want) })
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.LoadTask(want.ID)
		same(t, "task", want, got)
		return err
	})
	saved := fullTask()
	saved.Step, saved.Visit, saved.Entered, saved.Title, saved.Repository, saved.Metadata = "done", 5, true, "New", nil, nil
	saved.ArchivedAt, saved.Coordination, saved.Ephemeral = time.Time{}, "", false
	write(t, db, func(tx *store.Tx) error { return tx.SaveTask(saved, 1) })
	stale(t, "save task", db.Write(t.Context(), func(tx *store.Tx) error { return tx.SaveTask(fullTask(), 1) }))
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.LoadTaskByRef("w", "fl-77")
		same(t, "saved task", saved, got)
		if _, err := r.LoadTask("none"); !fairlead.IsCode(err, fairlead.CodeNotFound) {
			t.Errorf("unknown task: got %v", err)
		}
		if _, err := r.LoadTaskByRef("other", want.ID); !fairlead.IsCode(err, fairlead.CodeNotFound) {
			t.Errorf("task of another workspace: got %v", err)
		}
		id, err2 := r.TaskID("w", "FL-2")
		same(t, "id by identifier", "tsk_2", id)
		last, err3 := r.MaxPosition("w", "kanban", "todo")
		same(t, "last position", 3, last)
		if err == nil {
			err = err2
		}
		if err == nil {
			err = err3
		}
		return err
	})
	listTasks(t, db)
}

func listTasks(t *testing.T, db *store.DB) {
	cases := map[string]struct {
		f    store.TaskFilter
		want []string
	}{
		"newest first": {store.TaskFilter{Workspace: "w"}, []string{"tsk_full", "tsk_3", "tsk_2", "tsk_1"}},
		"column":       {store.TaskFilter{Workspace: "w", Workflow: "kanban", Step: "todo"}, []string{"tsk_1", "tsk_2", "tsk_3"}},
		"label":        {store.TaskFilter{Workspace: "w", Label: `odd","label`}, []string{"tsk_full"}},
		"part of one":  {store.TaskFilter{Workspace: "w", Label: "project"}, nil},
		"query":        {store.TaskFilter{Workspace: "w", Query: "ÄNDERUNG"}, []string{"tsk_full"}},
		"percent":      {store.TaskFilter{Workspace: "w", Query: "%"}, nil},
		"identifier":   {store.TaskFilter{Workspace: "w", Query: "fl-2"}, []string{"tsk_2"}},
		"parent":       {store.TaskFilter{Workspace: "w", Parent: "tsk_p"}, []string{"tsk_full"}},
		"open":         {store.TaskFilter{Workspace: "w", Open: true}, []string{"tsk_3", "tsk_2", "tsk_1"}},
		"elsewhere":    {store.TaskFilter{Workspace: "v"}, nil},
	}
	for name, c := range cases {
		var got []string
		read(t, db, func(r *store.ReadTx) error {
			p := store.Page{Limit: 2}
			for {
				rows, next, err := r.ListTasks(c.f, p)
				if err != nil {
					return err
				}
				for _, row := range rows {
					got = append(got, row.ID)
				}
				if p.Cursor = next; next == "" {
					return nil
				}
			}
		})
		same(t, "tasks, "+name, c.want, got)
	}
	err := db.Read(t.Context(), func(r *store.ReadTx) error {
		_, _, err := r.ListTasks(store.TaskFilter{Workspace: "w"}, store.Page{Cursor: "nonsense"})
		return err
	})
	if !fairlead.IsCode(err, fairlead.CodeInvalid) {
		t.Errorf("bad cursor: got %v", err)
	}
	write(t, db, func(tx *store.Tx) error {
		for want := range int64(3) {
			if n, err := tx.NextNumber("w"); err != nil || n != want+1 {
				t.Errorf("number %d, want %d (%v)", n, want+1, err)
			}
		}
		return nil
	})
	read(t, db, func(r *store.ReadTx) error {
		rows, err := r.TasksAt("w", "kanban", "todo", "doing")
		if len(rows) != 3 {
			t.Errorf("got %d tasks at the steps, want 3", len(rows))
		}
		return err
	})
}

func seats(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1")
	v := fairlead.Visit{Task: "T1", N: 1, Workflow: "kanban", WorkflowVersion: 1, Step: "todo", From: "x", By: fairlead.Person("anna"), Reason: "move", Note: "n", Round: 1, BeganAt: at}
	v2 := fairlead.Visit{Task: "T1", N: 2, Workflow: "kanban", WorkflowVersion: 2, Step: "todo", By: fairlead.Engine(), Reason: "enter", Round: 1, BeganAt: at}
	p := fairlead.Participant{ID: "par_1", Task: "T1", Step: "todo", Role: fairlead.RoleReviewer, Person: "anna", DecisionRequired: true, By: fairlead.Person("bob"), At: at}
	s := fairlead.Seat{ID: "sea_1", Task: "T1", Visit: 1, Role: fairlead.RoleReviewer, Agent: "ada", DecisionRequired: true, Participant: "par_1"}
	d := fairlead.Decision{ID: "dec_1", Task: "T1", Visit: 1, Round: 1, Seat: "sea_1", Role: fairlead.RoleReviewer, Verdict: fairlead.VerdictApproved, Note: "ok", By: agentActor, Seq: 4, At: at}
	write(t, db, func(tx *store.Tx) error {
		for _, err := range []error{tx.InsertVisit(v), tx.InsertVisit(v2), tx.InsertSeat(s), tx.InsertDecision(d), tx.EndVisit("T1", 1, at.Add(1e9)), tx.SetVisitRound("T1", 1, 2), tx.SetVisitVersion("T1", 2, 5)} {
			if err != nil {
				return err
			}
		}
		ok, err := tx.InsertParticipant(p)
		twin := p
		twin.ID = "par_2"
		again, err2 := tx.InsertParticipant(twin)
		if !ok || again || err2 != nil {
			t.Errorf("participant added %v, its twin %v (%v)", ok, again, err2)
		}
		return err
	})
	twin := s
	twin.ID = "sea_2"
	if err := db.Write(t.Context(), func(tx *store.Tx) error { return tx.InsertSeat(twin) }); !db.IsConstraint(err) {
		t.Errorf("a second seat of the same holder: got %v, want a constraint error", err)
	}
	v.EndedAt, v.Round, v2.WorkflowVersion = at.Add(1e9), 2, 5
	p.Removed, p.DecisionRequired = true, false
	write(t, db, func(tx *store.Tx) error {
		if err := tx.SaveParticipant(p); err != nil {
			return err
		}
		return tx.RemoveSeat("sea_1", at)
	})
	s.RemovedAt = at
	read(t, db, func(r *store.ReadTx) error {
		visit, err := r.LoadVisit("T1", 1)
		same(t, "visit", v, visit)
		visits, err1 := r.ListVisits("T1")
		same(t, "visits", []fairlead.Visit{v, v2}, visits)
		counts, err2 := r.VisitCounts("T1", 1)
		same(t, "counts", map[string]int{"todo": 1}, counts)
		participants, err3 := r.ListParticipants("T1")
		same(t, "participants", []fairlead.Participant{p}, participants)
		list, err4 := r.ListSeats("T1", 1)
		same(t, "seats", []fairlead.Seat{s}, list)
		decisions, err5 := r.ListDecisions("T1", 1, 1)
		same(t, "decisions", []fairlead.Decision{d}, decisions)
		every, err6 := r.ListAllDecisions("T1")
		same(t, "all decisions", decisions, every)
		return first(err, err1, err2, err3, err4, err5, err6)
	})
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func anAssignment(id, agent string) fairlead.Assignment {
	return fairlead.Assignment{
		ID: id, Workspace: "w", Task: "T1", Visit: 1, Step: "todo", Capacity: fairlead.CapacityPrimary, Agent: agent, Session: "ses_" + id,
		Program: "plain", State: fairlead.AssignmentOpen, CreatedAt: at, Version: 1,
	}
}

func assignments(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1")
	a, other := anAssignment("asg_1", "coder"), anAssignment("asg_2", "ada")
	other.Capacity, other.Seat = fairlead.Capacity(fairlead.RoleReviewer), "sea_1"
	s := fairlead.Session{ID: "ses_1", Task: "T1", Agent: "coder", Capacity: fairlead.CapacityPrimary, State: fairlead.SessionIdle, CreatedAt: at}
	write(t, db, func(tx *store.Tx) error {
		twin := s
		twin.ID = "ses_2"
		if got, err := tx.EnsureSession(s); err != nil || got.ID != "ses_1" {
			t.Errorf("new session is %v (%v)", got, err)
		}
		got, err := tx.EnsureSession(twin)
		same(t, "the session that is there", s, got)
		return first(err, tx.InsertAssignment(a), tx.InsertAssignment(other), tx.InsertExecution(&store.Execution{ID: "exe_1", Session: "ses_1", Node: "n", State: "running", StartedAt: at}))
	})
	a.State, a.ParkRequested, a.Signalled, a.Interruptions, a.OwnMove = fairlead.AssignmentParked, true, true, 2, &fairlead.OwnMove{To: "done", Note: "n", Run: "r"}
	s.State, s.Delivered, s.InFlight, s.Execution, s.External, s.Turns = fairlead.SessionRunning, 3, 5, "exe_1", "ext", 2
	write(t, db, func(tx *store.Tx) error { return first(tx.SaveAssignment(&a), tx.SaveSession(&s)) })
	old := a
	old.Version = 1
	stale(t, "save assignment", db.Write(t.Context(), func(tx *store.Tx) error { return tx.SaveAssignment(&old) }))
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.LoadAssignment("asg_1")
		same(t, "assignment", a, got)
		list, err1 := r.ListAssignments("T1", 1)
		same(t, "assignments", []fairlead.Assignment{a, other}, list)
		worked, err2 := r.WorkedAs("T1")
		same(t, "worked", []string{"coder"}, worked)
		session, err3 := r.LoadSession("ses_1")
		same(t, "session", s, session)
		live, err4 := r.ListLiveExecutions("n")
		same(t, "executions", []store.Execution{{ID: "exe_1", Session: "ses_1", Node: "n", State: "running", StartedAt: at}}, live)
		return first(err, err1, err2, err3, err4)
	})
	write(t, db, func(tx *store.Tx) error {
		n, err := tx.ResetSessions("n")
		same(t, "sessions reset", 1, n)
		return first(err, tx.EndExecution("exe_1", "dead", at), tx.EndAssignments("T1", 1))
	})
	read(t, db, func(r *store.ReadTx) error {
		session, err := r.LoadSession("ses_1")
		if session.State != fairlead.SessionIdle || session.Execution != "" {
			t.Errorf("session after the node's death: %+v", session)
		}
		list, err1 := r.ListAssignments("T1", 1)
		for _, a := range list {
			same(t, "state of "+a.ID, fairlead.AssignmentEnded, a.State)
		}
		live, err2 := r.ListLiveExecutions("n")
		same(t, "live executions", nil, live)
		return first(err, err1, err2)
	})
	records(t, db)
}

func records(t *testing.T, db *store.DB) {
	var want []fairlead.Record
	for seq := int64(1); seq <= 19; seq++ {
		r := fairlead.Record{Task: "T1", Seq: seq, Visit: 1, Kind: fairlead.RecordMessage, Actor: agentActor, Data: json.RawMessage(`{"n":1}`), Sem: 1, At: at}
		if seq%2 == 0 {
			r.Assignment, r.Run = "asg_1", "run_1"
		}
		want = append(want, r)
	}
	write(t, db, func(tx *store.Tx) error { return first(tx.AppendRecords(), tx.AppendRecords(want...)) })
	err := db.Write(t.Context(), func(tx *store.Tx) error { return tx.AppendRecords(want[3]) })
	if !db.IsConstraint(err) {
		t.Errorf("a number used twice: got %v", err)
	}
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.ListRecords("T1", 2, 10)
		same(t, "records", want[2:12], got)
		mine, err1 := r.ListRecordsFor("T1", "asg_1", 15)
		same(t, "records of one", []fairlead.Record{want[15], want[17]}, mine)
		return first(err, err1)
	})
	write(t, db, func(tx *store.Tx) error { return first(tx.PutBlob("h", "long"), tx.PutBlob("h", "long")) })
	read(t, db, func(r *store.ReadTx) error {
		data, err := r.GetBlob("h")
		same(t, "blob", "long", data)
		return err
	})
}

func requests(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	fill(t, db, "T1")
	anna := fairlead.Person("anna")
	q := fairlead.Request{
		ID: "req_1", Workspace: "w", Kind: fairlead.RequestApproval, Task: "T1", Visit: 1, Round: 1, Seat: "sea", Assignment: "asg", Run: "run",
		Prompt: "ok?", Schema: json.RawMessage(`{"type":"object"}`), Options: []fairlead.Option{{ID: "1", Label: "yes", Kind: "k"}},
		Payload: map[string]any{"a": "b"}, Blocks: fairlead.BlocksTask, WhoMay: []string{"person:anna"}, AskedOf: []string{"person:bob"}, OpenedBy: agentActor,
		State: fairlead.RequestOpen, OpenedAt: at, Seq: 3, Version: 1,
	}
	asked := fairlead.Request{ID: "req_2", Workspace: "w", Kind: fairlead.RequestQuestion, Task: "T1", Visit: 1, Prompt: "?", Blocks: fairlead.BlocksNothing, AskedOf: []string{"person:bob"}, OpenedBy: anna, State: fairlead.RequestOpen, OpenedAt: at.Add(1e9), Seq: 4}
	anyone := fairlead.Request{ID: "req_3", Workspace: "w", Kind: fairlead.RequestQuestion, Task: "T1", Visit: 1, Prompt: "?", Blocks: fairlead.BlocksNothing, OpenedBy: anna, State: fairlead.RequestOpen, OpenedAt: at.Add(1e9), Seq: 5}
	write(t, db, func(tx *store.Tx) error {
		return first(tx.InsertRequest(&q), tx.InsertRequest(&asked), tx.InsertRequest(&anyone))
	})
	list := func(f store.RequestFilter) (ids []string) {
		read(t, db, func(r *store.ReadTx) error {
			p := store.Page{Limit: 2}
			for {
				rows, next, err := r.ListRequests(f, p)
				for _, q := range rows {
					ids = append(ids, q.ID)
				}
				if p.Cursor = next; err != nil || next == "" {
					return err
				}
			}
		})
		return ids
	}
	same(t, "open", []string{"req_3", "req_2", "req_1"}, list(store.RequestFilter{Workspace: "w", State: "open"}))
	same(t, "anna's", []string{"req_3", "req_1"}, list(store.RequestFilter{Workspace: "w", State: "open", Actor: "person:anna"}))
	same(t, "bob's", []string{"req_3", "req_2"}, list(store.RequestFilter{Workspace: "w", Actor: "person:bob"}))
	same(t, "approvals", []string{"req_1"}, list(store.RequestFilter{Workspace: "w", Kind: "approval", Task: "T1"}))
	q.State, q.Answer, q.ResolvedBy, q.ResolvedAt = fairlead.RequestAnswered, &fairlead.Answer{Verdict: "approve", Values: json.RawMessage(`{"x":1}`)}, &anna, at
	write(t, db, func(tx *store.Tx) error { return tx.SaveRequest(&q) })
	late := q
	late.Version = 1
	stale(t, "save request", db.Write(t.Context(), func(tx *store.Tx) error { return tx.SaveRequest(&late) }))
	same(t, "answered", []string{"req_1"}, list(store.RequestFilter{Workspace: "w", State: "answered"}))
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.LoadRequest("req_1")
		same(t, "request", q, got)
		open, err1 := r.OpenRequests("T1")
		same(t, "open of the task", []fairlead.Request{asked, anyone}, open)
		approval, err2 := r.NewestApproval("T1", 1)
		same(t, "approval", &q, approval)
		none, err3 := r.NewestApproval("T1", 2)
		same(t, "no approval", nil, none)
		every, err4 := r.RequestsOf("T1")
		same(t, "all of the task", 3, len(every))
		return first(err, err1, err2, err3, err4)
	})
}
