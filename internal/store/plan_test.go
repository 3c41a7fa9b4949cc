package store

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var scan = regexp.MustCompile(`^SCAN (\w+)`)

// TestIndexNotScan asks SQLite how it would run each statement: none may walk through a table that grows with the work
// done. A list in the order of an index, cut off by a limit, is no walk.
func TestIndexNotScan(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.wantCodes(b.batch(put("a")), "")
	// Small tables, and statements of retention.
	allowed := []string{
		"agents", "agents_lock", "candidates a", "first_candidates h", "workspaces", "tokens", "nodes n", "nodes_live n", "nodes_bury", "nodes_of_home_bury", "beats_forget", "standing_task k", "task_ancestors u", "task_ancestors up", "standing_task kin", "runs_spent_task kin", "runs_spent_task k", "usage_spent_task kin", "usage_spent_task k", "stats_runs", "stats_rest", "node_insert", "tables", "op_prune", "wake_key_prune",
		"outbox_prune", "event_prune", "tokens_home", "sessions_reset",
	}
	for _, st := range statements {
		head := strings.Fields(st.sqlite)[0]
		if !slices.Contains([]string{"SELECT", "UPDATE", "DELETE", "INSERT", "WITH"}, head) {
			continue
		}
		rows, err := b.group.conn.conn.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+st.sqlite, make([]any, len(st.order))...)
		if err != nil {
			t.Errorf("%s: %v", st.name, err)
			continue
		}
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			m := scan.FindStringSubmatch(detail)
			if m == nil || strings.Contains(detail, " USING ") || slices.Contains([]string{"json_each", "CONSTANT", "SUBQUERY"}, m[1]) || strings.HasSuffix(detail, "VALUES CLAUSE") {
				continue
			}
			if !slices.Contains(allowed, st.name) && !slices.Contains(allowed, st.name+" "+m[1]) {
				t.Errorf("%s walks through a table: %s", st.name, detail)
			}
		}
		if err := rows.Err(); err != nil {
			t.Errorf("%s: %v", st.name, err)
		}
		_ = rows.Close()
	}
}
