package storetest

import (
	"testing"
	"time"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

func aRoutine(key string) fairlead.Routine {
	return fairlead.Routine{
		Workspace: "w", Key: key, Name: "Nightly", Workflow: "kanban", Title: "Ünïcode", Description: "d", Labels: []string{"a"}, Agent: "coder",
		Priority: fairlead.PriorityHigh, Cron: "0 3 * * *", Zone: "Europe/Berlin", Missed: "once", Overlap: "queue", Secret: "s3cret", Paused: true,
		PauseReason: "why", PausedAt: at, Anchor: at.Add(time.Hour), LastAt: at, LastTask: "T1",
		Waiting: &fairlead.WaitingFire{At: fairlead.StampOf(at), Cause: fairlead.CauseManual, Payload: map[string]any{"k": "v"}},
	}
}

func routines(t *testing.T, b Backend) {
	db := b.Open(t, &store.Options{Now: func() time.Time { return at }})
	fill(t, db, "T1", "T2", "T3")
	v, other := aRoutine("nightly"), fairlead.Routine{Workspace: "w", Key: "bare", Workflow: "kanban", Title: "Bare", Missed: "skip", Overlap: "skip", Anchor: at}
	write(t, db, func(tx *store.Tx) error { return first(tx.PutRoutine(&v), tx.PutRoutine(&other)) })
	same(t, "versions", []int64{1, 1}, []int64{v.Version, other.Version})
	changed := v
	changed.Title, changed.Paused, changed.PausedAt, changed.Waiting, changed.Secret = "Other", false, time.Time{}, nil, ""
	write(t, db, func(tx *store.Tx) error { return tx.PutRoutine(&changed) })
	same(t, "version after a change", int64(2), changed.Version)
	read(t, db, func(r *store.ReadTx) error {
		list, err := r.ListRoutines("w")
		same(t, "by key", []fairlead.Routine{other, changed}, list)
		got, err1 := r.LoadRoutine("w", "nightly")
		same(t, "routine", changed, got)
		if _, err := r.LoadRoutine("other", "nightly"); !fairlead.IsCode(err, fairlead.CodeNotFound) {
			t.Errorf("another workspace's: got %v", err)
		}
		return first(err, err1)
	})
	write(t, db, func(tx *store.Tx) error { return tx.PutRoutine(&v) })
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.LoadRoutine("w", "nightly")
		same(t, "with a fire that waits", v, got)
		return err
	})
	routineTasks(t, db)
}

// routineTasks: what a routine made counts until it has ended and is dropped; a task is made by one routine only.
func routineTasks(t *testing.T, db *store.DB) {
	write(t, db, func(tx *store.Tx) error {
		return first(tx.PutRoutineTask("T2", "w", "nightly"), tx.PutRoutineTask("T1", "w", "nightly"), tx.PutRoutineTask("T3", "w", "bare"))
	})
	err := db.Write(t.Context(), func(tx *store.Tx) error { return tx.PutRoutineTask("T1", "w", "bare") })
	if !db.IsConstraint(err) {
		t.Errorf("a task of two routines: got %v", err)
	}
	ended := plainTask("T1", 1)
	ended.Terminal = fairlead.TerminalDone
	write(t, db, func(tx *store.Tx) error { return tx.SaveTask(ended, 1) })
	of := func(what string, want ...string) {
		t.Helper()
		read(t, db, func(r *store.ReadTx) error {
			open, err := r.OpenRoutineTasks("w", "nightly")
			same(t, what+": open", []string{"FL-2"}, open)
			var got []string
			for _, task := range []string{"T1", "T2", "T3", "T4"} {
				key, err := r.RoutineOf(task)
				if err != nil {
					return err
				}
				got = append(got, key)
			}
			same(t, what+": routine of each", want, got)
			return err
		})
	}
	of("one has ended", "nightly", "nightly", "bare", "")
	write(t, db, func(tx *store.Tx) error { return tx.DropRoutineTasks("w", "nightly") })
	of("it is dropped", "", "nightly", "bare", "")
}

func aReceipt(id, outcome string, made time.Duration) fairlead.Receipt {
	return fairlead.Receipt{
		ID: id, Workspace: "w", Kind: fairlead.ScheduleRoutine, Ref: "nightly", Step: "s", At: at, Until: at, Count: 1, Outcome: outcome, Reason: "why",
		Cause: fairlead.CauseSchedule, MadeAt: at.Add(made),
	}
}

func receipts(t *testing.T, b Backend) {
	db := b.Open(t, nil)
	a, c := aReceipt("rct_1", "fired", 0), aReceipt("rct_3", "skipped", time.Hour)
	a.Task = "T1"
	twin, foreign := aReceipt("rct_2", "fired", 0), aReceipt("rct_9", "skipped", 2*time.Hour)
	foreign.Ref = "other"
	write(t, db, func(tx *store.Tx) error {
		return first(tx.InsertReceipt(c), tx.InsertReceipt(a), tx.InsertReceipt(twin), tx.InsertReceipt(foreign))
	})
	extend := func(want bool, change func(r *fairlead.Receipt)) {
		t.Helper()
		more := aReceipt("rct_4", "skipped", 3*time.Hour)
		more.Until, more.Count = at.Add(3*time.Hour), 2
		change(&more)
		write(t, db, func(tx *store.Tx) error {
			ok, err := tx.ExtendReceipt(more)
			same(t, "spoken for", want, ok)
			return err
		})
	}
	extend(true, func(*fairlead.Receipt) {})
	extend(false, func(r *fairlead.Receipt) { r.Reason = "something else" })
	extend(false, func(r *fairlead.Receipt) { r.Outcome = "fired" }) // only the newest one speaks for more
	extend(false, func(r *fairlead.Receipt) { r.Step = "another" })
	extend(false, func(r *fairlead.Receipt) { r.Cause = fairlead.CauseManual })
	c.Until, c.Count, c.MadeAt = at.Add(3*time.Hour), 3, at.Add(3*time.Hour)
	read(t, db, func(r *store.ReadTx) error {
		page, next, err := r.ListReceipts("w", fairlead.ScheduleRoutine, "nightly", store.Page{Limit: 2})
		same(t, "newest", []fairlead.Receipt{c, twin}, page)
		page, next, err1 := r.ListReceipts("w", fairlead.ScheduleRoutine, "nightly", store.Page{Limit: 2, Cursor: next})
		same(t, "the next page", []fairlead.Receipt{a}, page)
		same(t, "no third", "", next)
		none, _, err2 := r.ListReceipts("w", fairlead.ScheduleHeartbeat, "nightly", store.Page{})
		same(t, "of another kind", nil, none)
		return first(err, err1, err2)
	})
	beats(t, db)
}

func beats(t *testing.T, db *store.DB) {
	write(t, db, func(tx *store.Tx) error {
		return first(tx.CountBeat("T1", "s", "2026-03-01", "fired"), tx.CountBeat("T1", "s", "2026-03-02", "only_if"),
			tx.CountBeat("T1", "s", "2026-03-02", "only_if"), tx.CountBeat("T1", "r", "2026-03-02", "only_if"), tx.CountBeat("T2", "s", "2026-03-02", "fired"))
	})
	read(t, db, func(r *store.ReadTx) error {
		got, err := r.ListBeats("T1")
		same(t, "heartbeats", []fairlead.BeatCount{
			{Task: "T1", Step: "r", Day: "2026-03-02", Outcome: "only_if", Count: 1}, {Task: "T1", Step: "s", Day: "2026-03-02", Outcome: "only_if", Count: 2},
			{Task: "T1", Step: "s", Day: "2026-03-01", Outcome: "fired", Count: 1},
		}, got)
		return err
	})
}
