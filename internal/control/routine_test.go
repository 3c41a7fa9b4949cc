package control

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

const hookSecret = "a secret of the test"

// routine applies a routine of tasks on the workflow stay; more holds further lines of it.
func (f *timed) routine(key, more string) fairlead.RoutineView {
	f.t.Helper()
	v, err := f.c.ApplyRoutine(f.t.Context(), owner(), fairlead.RoutineBody{
		Source: "routine: " + key + "\nworkflow: stay\ntitle: Do " + key + "\n" + more + "\n",
	})
	f.must(err)
	return v
}

func (f *timed) seeRoutine(key string) fairlead.RoutineView {
	f.t.Helper()
	v, err := f.c.GetRoutine(f.t.Context(), mainWorkspace, key)
	f.must(err)
	return v
}

// made returns the fire times of the tasks that a routine made, oldest first.
func (f *timed) made(key string) (times []string) {
	f.t.Helper()
	p, err := f.c.ListTasks(f.t.Context(), mainWorkspace, TaskQuery{Limit: 200, Archived: true})
	f.must(err)
	for _, t := range p.Items {
		if t.Metadata["routine"] == key {
			if t.Origin != fairlead.OriginRoutine || t.Title != "Do "+key {
				f.t.Errorf("task %+v is not of the routine", t)
			}
			at, _ := t.Metadata["fire_time"].(string)
			times = append(times, strings.TrimSuffix(at, ":00.000000Z"))
		}
	}
	slices.Sort(times)
	return times
}

// TestR15_RoutineMissed: the server was down across five fires: the policies make no, one or three tasks, and a receipt
// tells of each occurrence.
func TestR15_RoutineMissed(t *testing.T) {
	for policy, want := range map[string]struct {
		made     []string
		receipts map[string]int
	}{
		"skip":   {nil, map[string]int{"skipped/missed": 5}},
		"once":   {[]string{"2026-03-01T14:00"}, map[string]int{"skipped/joined": 4, "caught_up/missed": 1}},
		"all(3)": {[]string{"2026-03-01T12:00", "2026-03-01T13:00", "2026-03-01T14:00"}, map[string]int{"skipped/over_max": 2, "caught_up/missed": 3}},
	} {
		t.Run(policy, func(t *testing.T) {
			eachTimed(t, func(t *testing.T, f *timed) {
				f.routine("hourly", "every: 1h\noverlap: allow\nmissed: "+policy)
				f.until(1, 14, 30)
				f.fire()
				equal(t, "tasks", f.made("hourly"), want.made)
				equal(t, "receipts", f.receipts(fairlead.ScheduleRoutine, "hourly"), want.receipts)
				equal(t, "next", f.seeRoutine("hourly").NextAt.Time, time.Date(2026, 3, 1, 15, 0, 0, 0, time.UTC))
				if again := f.fire(); again != 0 {
					t.Errorf("fired %d timers again", again)
				}
				f.until(1, 15, 0)
				f.fire()
				equal(t, "tasks", f.made("hourly"), append(want.made, "2026-03-01T15:00"))
			})
		})
	}
}

// TestR18_OneFailingRoutineDoesNotStopTheOthers: of four routines due at once one's workflow has gone, which is refused,
// and one's timer cannot be read, which is an error; the others make their tasks, and the first goes on with its next.
func TestR18_OneFailingRoutineDoesNotStopTheOthers(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		for _, key := range []string{"a", "b", "c", "d"} {
			f.routine(key, "every: 1h")
		}
		f.must(f.db.Write(t.Context(), func(tx *store.Tx) error {
			r, err := tx.LoadRoutine(mainWorkspace, "a")
			if err != nil {
				return err
			}
			r.Workflow = "gone"
			if err := tx.PutRoutine(&r); err != nil {
				return err
			}
			b, err := tx.FindTimer(fairlead.TimerRoutine, mainWorkspace+"/b")
			if err != nil {
				return err
			}
			b.Payload = []byte(`"unreadable"`)
			return tx.PutTimer(b)
		}))
		for hour := 10; hour < 12; hour++ {
			f.until(1, hour, 0)
			if _, err := f.c.FireDue(t.Context()); err == nil || !strings.Contains(err.Error(), "fire timer") {
				t.Errorf("got error %v, want that of b's timer", err)
			}
		}
		equal(t, "receipts of a", f.receipts(fairlead.ScheduleRoutine, "a"), map[string]int{"skipped/error": 2})
		equal(t, "next of a", f.seeRoutine("a").NextAt.Time, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		equal(t, "next of b", f.seeRoutine("b").NextAt.Time, time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC))
		for _, key := range []string{"c", "d"} {
			equal(t, "tasks of "+key, f.made(key), []string{"2026-03-01T10:00"})
			equal(t, "receipts of "+key, f.receipts(fairlead.ScheduleRoutine, key), map[string]int{"fired/": 1, "skipped/overlap": 1})
		}
		in, err := f.c.Inbox(t.Context(), mainWorkspace, ownerPerson)
		f.must(err)
		if len(in.Notices) != 1 || in.Notices[0].Kind != "routine_failed" {
			t.Errorf("notices %+v, want one of the routine that fails", in.Notices)
		}
	})
}

// TestR18_RefusedFireConsumesItsOccurrence: whatever part of a fire was refused and undone, its occurrence is consumed
// with a receipt and one audit record, and the next one comes in its time.
func TestR18_RefusedFireConsumesItsOccurrence(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.routine("a", "every: 1h")
		f.until(1, 10, 0)
		var timer *fairlead.Timer
		f.read(func(tx *store.ReadTx) (err error) {
			timer, err = tx.FindTimer(fairlead.TimerRoutine, mainWorkspace+"/a")
			return err
		})
		fired, err := f.c.refusedTimer(t.Context(), Meta{Workspace: mainWorkspace, Actor: fairlead.Engine(), Op: "d_test"}, *timer,
			fairlead.Errorf(fairlead.CodeRefused, "no"))
		f.must(err)
		if !fired {
			t.Error("the generation was not consumed")
		}
		equal(t, "receipts", f.receipts(fairlead.ScheduleRoutine, "a"), map[string]int{"skipped/error": 1})
		equal(t, "audit records", f.audits("fire timer"), 1)
		equal(t, "due again", f.fire(), 0)
		f.until(1, 11, 0)
		f.fire()
		equal(t, "tasks", f.made("a"), []string{"2026-03-01T11:00"})
	})
}

// TestRoutineOverlap: while a task of a routine is open, skip drops its fires, queue lets one wait and makes it when the
// task has ended, allow makes them all.
func TestRoutineOverlap(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		for _, rule := range []string{"skip", "queue", "allow"} {
			f.routine(rule, "every: 1h\noverlap: "+rule)
		}
		for hour := 10; hour < 13; hour++ {
			f.until(1, hour, 0)
			f.fire()
		}
		equal(t, "skip", f.made("skip"), []string{"2026-03-01T10:00"})
		equal(t, "queue", f.made("queue"), []string{"2026-03-01T10:00"})
		equal(t, "allow", f.made("allow"), []string{"2026-03-01T10:00", "2026-03-01T11:00", "2026-03-01T12:00"})
		equal(t, "receipts of skip", f.receipts(fairlead.ScheduleRoutine, "skip"), map[string]int{"fired/": 1, "skipped/overlap": 2})
		equal(t, "receipts of queue", f.receipts(fairlead.ScheduleRoutine, "queue"), map[string]int{"fired/": 1, "waits/overlap": 1, "skipped/queued": 1})
		v := f.seeRoutine("queue")
		if v.Open != 1 || v.WaitingAt == nil || v.WaitingAt.Hour() != 11 {
			t.Errorf("routine %+v, want one task open and the fire of 11 h waiting", v)
		}
		for _, rule := range []string{"skip", "queue"} {
			f.move(f.seeRoutine(rule).LastTask, "done")
		}
		f.fire()
		equal(t, "queue after the end", f.made("queue"), []string{"2026-03-01T10:00", "2026-03-01T11:00"})
		equal(t, "skip after the end", f.made("skip"), []string{"2026-03-01T10:00"})
		f.until(1, 13, 0)
		f.fire()
		equal(t, "skip at its next time", f.made("skip"), []string{"2026-03-01T10:00", "2026-03-01T13:00"})
		if v := f.seeRoutine("queue"); v.WaitingAt == nil || v.WaitingAt.Hour() != 13 {
			t.Errorf("routine %+v, want the fire of 13 h waiting", v)
		}
		_, err := f.c.Archive(t.Context(), owner(), f.seeRoutine("queue").LastTask, fairlead.OpBody{})
		f.must(err)
		f.fire()
		equal(t, "queue after an archive", f.made("queue"), []string{"2026-03-01T10:00", "2026-03-01T11:00", "2026-03-01T13:00"})
	})
}

// TestRoutineFiredByHand: a person's fire makes a task whatever the schedule and the overlap say, does not move the
// schedule, and sent again makes nothing new.
func TestRoutineFiredByHand(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		before := f.routine("a", "every: 1h\nlabels: [project:web]\npriority: high\nagent: bob")
		m := owner()
		m.Op = "fire-1"
		first, err := f.c.FireRoutine(t.Context(), m, "a", fairlead.FireBody{Payload: map[string]any{"ref": "main"}}, FireProof{})
		f.must(err)
		again, err := f.c.FireRoutine(t.Context(), m, "a", fairlead.FireBody{Payload: map[string]any{"ref": "main"}}, FireProof{})
		f.must(err)
		equal(t, "fire sent again", again, first)
		_, err = f.c.FireRoutine(t.Context(), m, "a", fairlead.FireBody{}, FireProof{})
		refused(t, err, fairlead.CodeOpReused)
		second, err := f.c.FireRoutine(t.Context(), owner(), "a", fairlead.FireBody{}, FireProof{})
		f.must(err)
		if first.Task == nil || second.Task == nil || first.Task.ID == second.Task.ID || first.Outcome != fairlead.FireFired {
			t.Fatalf("fires %+v and %+v, want a task each", first, second)
		}
		task := f.see(first.Task.ID)
		payload, _ := task.Metadata["payload"].(map[string]any)
		if payload["ref"] != "main" || task.Metadata["cause"] != fairlead.CauseManual || task.Agent != "bob" || task.Priority != fairlead.PriorityHigh ||
			!slices.Equal(task.Labels, []string{"project:web"}) || task.Version != first.Task.Version {
			t.Errorf("task %+v", task)
		}
		equal(t, "next", f.seeRoutine("a").NextAt, before.NextAt)
		run := f.queued(first.Task.ID)
		equal(t, "agent", run.Agent, "bob")
	})
}

// TestRoutineFiredFromOutside: a client's fire needs a signature over its operation and body, is made once, and bows to
// overlap and pause.
func TestRoutineFiredFromOutside(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.routine("open", "every: 1h")
		f.routine("hook", "webhook: {secret: '"+hookSecret+"'}")
		body := []byte(`{"payload":{"ref":"main"}}`)
		fire := func(key, op, secret string) (fairlead.FireView, error) {
			m := Meta{Workspace: mainWorkspace, Actor: fairlead.Actor{Kind: fairlead.ActorClient, Key: "ci"}, Op: fairlead.OpID(op)}
			p := FireProof{Body: body}
			if secret != "" {
				p.Signature = SignFire(secret, fairlead.OpID(op), body)
			}
			return f.c.FireRoutine(t.Context(), m, key, fairlead.FireBody{Payload: map[string]any{"ref": "main"}}, p)
		}
		for name, c := range map[string]struct{ key, op, secret string }{
			"unsigned": {"hook", "x1", ""}, "wrong secret": {"hook", "x2", "another secret here"}, "no webhook": {"open", "x3", hookSecret},
		} {
			if _, err := fire(c.key, c.op, c.secret); !fairlead.IsCode(err, fairlead.CodeForbidden) {
				t.Errorf("%s: got %v, want forbidden", name, err)
			}
		}
		first, err := fire("hook", "delivery-1", hookSecret)
		f.must(err)
		again, err := fire("hook", "delivery-1", hookSecret)
		f.must(err)
		equal(t, "delivery sent again", again, first)
		if first.Task == nil || f.see(first.Task.ID).Creator.Key != "ci" {
			t.Errorf("fire %+v", first)
		}
		second, err := fire("hook", "delivery-2", hookSecret)
		f.must(err)
		equal(t, "overlap", second.Outcome+"/"+second.Reason, "skipped/overlap")
		f.move(first.Task.ID, "done")
		_, err = f.c.PauseRoutine(t.Context(), owner(), "hook", fairlead.PauseBody{Reason: "holiday"})
		f.must(err)
		third, err := fire("hook", "delivery-3", hookSecret)
		f.must(err)
		equal(t, "pause", third.Outcome+"/"+third.Reason, "skipped/paused")
		equal(t, "receipts", f.receipts(fairlead.ScheduleRoutine, "hook"), map[string]int{"fired/": 1, "skipped/overlap": 1, "skipped/paused": 1})
		if strings.Contains(f.dumpOf("operations", "audit", "events"), hookSecret) {
			t.Error("the secret stands outside of its routine")
		}
	})
}

// dumpOf is the part of the database that holds the named tables.
func (f *timed) dumpOf(tables ...string) string {
	f.t.Helper()
	var b strings.Builder
	keep := false
	for line := range strings.Lines(string(f.rawDump())) {
		if rest, head := strings.CutPrefix(line, "# "); head {
			keep = slices.Contains(tables, strings.Fields(rest)[0])
		}
		if keep {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestRoutinePause: a paused routine does not fire; what came due meanwhile leaves receipts and is not made up for.
func TestRoutinePause(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.routine("a", "every: 1h\nmissed: all\noverlap: allow")
		v, err := f.c.PauseRoutine(t.Context(), owner(), "a", fairlead.PauseBody{Reason: "holiday"})
		f.must(err)
		if !v.Paused || v.PauseReason != "holiday" || v.NextAt != nil {
			t.Errorf("routine %+v, want it paused without a next time", v)
		}
		f.until(1, 13, 30)
		equal(t, "timers fired", f.fire(), 0)
		v, err = f.c.ResumeRoutine(t.Context(), owner(), "a", fairlead.PauseBody{})
		f.must(err)
		if v.Paused || v.NextAt == nil || v.NextAt.Hour() != 14 {
			t.Errorf("routine %+v, want it to fire at 14 h", v)
		}
		equal(t, "receipts", f.receipts(fairlead.ScheduleRoutine, "a"), map[string]int{"skipped/paused": 4})
		f.until(1, 14, 0)
		f.fire()
		equal(t, "tasks", f.made("a"), []string{"2026-03-01T14:00"})
		before := f.dump()
		_, err = f.c.ResumeRoutine(t.Context(), owner(), "a", fairlead.PauseBody{})
		f.must(err)
		if after := f.dump(); strings.Count(after, `"key":"a"`) != strings.Count(before, `"key":"a"`) {
			t.Error("resuming what is not paused changed something")
		}
	})
}

// TestRoutineApply: names and times are checked with their place, the same file again changes nothing, a new title
// keeps the schedule's place, a new schedule counts from now, and agents may not.
func TestRoutineApply(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		ctx := t.Context()
		_, err := f.c.ApplyRoutine(ctx, owner(), fairlead.RoutineBody{Source: "routine: a\nworkflow: gone\ntitle: T\nevery: 1h\n"})
		e := refused(t, err, fairlead.CodeInvalid)
		if len(e.Fields) != 1 || e.Fields[0].Line != 2 || e.Fields[0].Column != 11 {
			t.Errorf("fields %+v, want line 2, column 11", e.Fields)
		}
		first := f.routine("a", "every: 4h")
		if second := f.routine("a", "every: 4h"); second.Version != first.Version {
			t.Errorf("the same again made version %d of %d", second.Version, first.Version)
		}
		f.until(1, 13, 0)
		if v := f.routine("a", "every: 4h\nlabels: [x]"); v.Version == first.Version || !v.NextAt.Equal(first.NextAt.Time) {
			t.Errorf("with a label: %+v, want another version and %s", v, first.NextAt)
		}
		if v := f.routine("a", "cron: '0 9 * * *'\nzone: America/New_York"); v.NextAt.Hour() != 14 || v.Schedule != "0 9 * * * America/New_York" {
			t.Errorf("with another schedule: %+v", v)
		}
		if v := f.routine("a", "webhook: {secret: '"+hookSecret+"'}"); v.NextAt != nil || !v.Webhook || v.Schedule != "" {
			t.Errorf("without a schedule: %+v", v)
		}
		client := Meta{Workspace: mainWorkspace, Actor: fairlead.Actor{Kind: fairlead.ActorClient, Key: "ci"}}
		_, err = f.c.ApplyRoutine(ctx, client, fairlead.RoutineBody{Source: "routine: a\nworkflow: stay\ntitle: T\nevery: 1h\n"})
		refused(t, err, fairlead.CodeForbidden)
		_, err = f.c.GetRoutine(ctx, mainWorkspace, "nobody")
		refused(t, err, fairlead.CodeNotFound)
		all, err := f.c.ListRoutines(ctx, mainWorkspace)
		f.must(err)
		if len(all) != 1 || all[0].Key != "a" {
			t.Errorf("routines %+v", all)
		}
	})
}

// TestRoutineFiresOnceWithManyLooks: several nodes see the same due time; one of them fires it.
func TestRoutineFiresOnceWithManyLooks(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.routine("a", "every: 1h\noverlap: allow")
		f.until(1, 10, 0)
		for i, err := range together(4, func(int) error { _, err := f.c.FireDue(t.Context()); return err }) {
			if err != nil {
				t.Errorf("look %d: %v", i, err)
			}
		}
		equal(t, "tasks", f.made("a"), []string{"2026-03-01T10:00"})
	})
}

// TestRoutineReceiptsPage: receipts are listed newest first, page by page.
func TestRoutineReceiptsPage(t *testing.T) {
	eachTimed(t, func(t *testing.T, f *timed) {
		f.routine("a", "every: 1h\noverlap: allow")
		for hour := 10; hour < 15; hour++ {
			f.until(1, hour, 0)
			f.fire()
		}
		var hours []int
		cursor := ""
		for {
			p, err := f.c.RoutineReceipts(t.Context(), mainWorkspace, "a", 2, cursor)
			f.must(err)
			for _, r := range p.Items {
				hours = append(hours, r.At.Hour())
			}
			if cursor = p.NextCursor; cursor == "" {
				break
			}
		}
		equal(t, "hours", fmt.Sprint(hours), "[14 13 12 11 10]")
	})
}
