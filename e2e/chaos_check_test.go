package e2e

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"slices"
)

// faults are queries that find nothing in a database that is whole; each returns texts.
var faults = map[string]string{
	"a task without exactly one run": `SELECT t.id || ' has ' || COUNT(r.id) FROM tasks t LEFT JOIN runs r ON r.task = t.id
		WHERE t.workflow LIKE 'chaos%' GROUP BY t.id HAVING COUNT(r.id) <> 1`,
	"a run without a success":     `SELECT r.id || ' is ' || r.status FROM runs r WHERE r.status <> 'succeeded'`,
	"a run that ended not once":   `SELECT e.run || ': ' || COUNT(*) FROM run_events e WHERE e.kind = 'ended' GROUP BY e.run HAVING COUNT(*) <> 1`,
	"a turn that succeeded twice": `SELECT k.run || ': ' || COUNT(*) FROM records k WHERE k.kind = 'turn_ended' AND k.data::jsonb->>'status' = 'succeeded' GROUP BY k.run HAVING COUNT(*) <> 1`,
	"a task that moved twice":     `SELECT v.task || ': ' || COUNT(*) FROM visits v JOIN tasks t ON t.id = v.task WHERE t.workflow LIKE 'chaos%' GROUP BY v.task HAVING COUNT(*) <> 2`,
	"something still held": `SELECT 'checkout ' || run FROM checkouts UNION ALL SELECT 'live run ' || run FROM live_runs
		UNION ALL SELECT 'slot ' || run FROM agent_slots UNION ALL SELECT 'place ' || task FROM wip_places`,
	"an attempt that nobody failed": `SELECT r.id || ': ' || r.attempt FROM runs r WHERE r.attempt <> 0`,
}

// checkRows looks for rows that may not be there.
func (c *chaos) checkRows(db *sql.DB, runs int) {
	c.t.Helper()
	var found int
	if err := db.QueryRowContext(c.t.Context(), `SELECT COUNT(*) FROM runs`).Scan(&found); err != nil || found != runs {
		c.t.Errorf("got %d runs %v, want %d: one for each acknowledged task", found, err, runs)
	}
	for what, query := range faults {
		rows, err := db.QueryContext(c.t.Context(), query)
		if err != nil {
			c.t.Fatalf("look for %s: %v", what, err)
		}
		for n := 0; rows.Next(); n++ {
			var text string
			if err := rows.Scan(&text); err != nil {
				c.t.Fatal(err)
			}
			if n < 5 {
				c.t.Errorf("%s: %s", what, text)
			}
		}
		if err := rows.Err(); err != nil {
			c.t.Fatal(err)
		}
		_ = rows.Close() // its error is also Err's
	}
}

// change is one line of a run's log.
type change struct {
	run, task, agent, kind string
	fence, at, seq         int64
}

// checkIntervals goes through the logs of all runs in the order of time: fences only grow, a claim follows the end of the
// one before, and no agent has more at once than it has slots.
func (c *chaos) checkIntervals(db *sql.DB) {
	c.t.Helper()
	rows, err := db.QueryContext(c.t.Context(), `SELECT e.run, r.task, r.agent, e.kind, e.data, e.at, e.seq FROM run_events e JOIN runs r ON r.id = e.run
		WHERE e.kind IN ('claimed', 'interrupted', 'ended')`)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }() // its error is also Err's
	var all []change
	for rows.Next() {
		var one change
		var data string
		if err := rows.Scan(&one.run, &one.task, &one.agent, &one.kind, &data, &one.at, &one.seq); err != nil {
			c.t.Fatal(err)
		}
		var d struct{ Fence int64 }
		if err := json.Unmarshal([]byte(data), &d); err != nil {
			c.t.Fatal(err)
		}
		one.fence = d.Fence
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		c.t.Fatal(err)
	}
	// Ends come before claims of the same instant: a claim waits for the commit that freed it.
	slices.SortFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), -cmp.Compare(order(a.kind), order(b.kind)), cmp.Compare(a.run, b.run), cmp.Compare(a.seq, b.seq))
	})
	c.replay(all)
}

func order(kind string) int {
	if kind == "claimed" {
		return 0
	}
	return 1
}

func (c *chaos) replay(all []change) {
	c.t.Helper()
	busy, slots, fences := map[string]string{}, map[string]int{}, map[string]int64{}
	claims, interruptions, most := 0, 0, 0
	for _, e := range all {
		if e.kind != "claimed" {
			if busy[e.task] == "" {
				c.t.Errorf("run %s: %s without a claim", e.run, e.kind)
				continue
			}
			delete(busy, e.task)
			slots[e.agent]--
			if e.kind == "interrupted" {
				interruptions++
			}
			continue
		}
		claims++
		if other := busy[e.task]; other != "" {
			c.t.Errorf("task %s: run %s was claimed while %s was live", e.task, e.run, other)
		}
		if e.fence <= fences[e.run] {
			c.t.Errorf("run %s was claimed under fence %d after %d", e.run, e.fence, fences[e.run])
		}
		busy[e.task], fences[e.run] = e.run, e.fence
		slots[e.agent]++
		if most = max(most, slots[e.agent]); slots[e.agent] > chaosParallel {
			c.t.Errorf("agent %s has %d runs at once, it has %d slots", e.agent, slots[e.agent], chaosParallel)
		}
	}
	c.t.Logf("%d claims, %d interruptions, at most %d runs of one agent at once", claims, interruptions, most)
	if claims == 0 || interruptions == 0 {
		c.t.Error("nothing was interrupted: the chaos proved nothing")
	}
}
