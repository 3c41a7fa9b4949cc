package store

import (
	"regexp"
	"strconv"
	"strings"
)

// Stmt is one statement, written once with numbered placeholders ?1, ?2 … and a few marks that each dialect replaces:
//
//	{{lock}}    rows are locked against other writers (nothing on SQLite, which has one writer)
//	{{share}}   rows are locked against change, shared with other such holders
//	{{skip}}    like {{lock}}, passing over rows that somebody else holds
//	{{in ?1}}   membership in a list that is passed as a JSON array of strings
//	{{has c ?1}}      the JSON list in column c holds the text
//	{{contains c ?1}} the text in column c contains the text
//	{{each}} … {{end}} for every row so far, the first rows r of runs q that the subquery between finds (CROSS: SQLite must not
//	turn the join around and scan all runs)
//	{{immediate}} a write transaction from its first statement on
//	{{tables}}  the names of all tables
//	{{notify}}  a broadcast in the transaction (SQLite has none)
//	{{clock}}   the database's own time, in microseconds
type Stmt struct {
	name    string
	once    bool // not worth preparing
	writes  bool // it changes rows, whether it returns some or not
	touches bool // it may change what Around tells
	locks   bool // it waits for others' locks
	// saves is the noun of the one row that the statement compares and swaps; see defineSave.
	saves    string
	sqlite   string
	postgres string
	// order says which argument, from 0, each placeholder of the SQLite text stands for: its placeholders have no
	// numbers, because the driver looks a number up by name again at each call.
	order []int
}

// statements is filled while package variables are initialised and never changes afterwards.
var statements []*Stmt

// define registers a statement, so that a test can prepare every one of them on both databases.
func define(name, text string) *Stmt {
	text = strings.TrimSpace(text)
	st := &Stmt{name: name, postgres: toPostgres(text), writes: !strings.HasPrefix(text, "SELECT")}
	st.locks = strings.Contains(text, "{{lock}}") || strings.Contains(text, "{{share}}")
	st.touches = touching.MatchString(text)
	st.sqlite, st.order = unnumbered(toSQLite(text))
	statements = append(statements, st)
	return st
}

// touching finds statements that change what stands around a task. The task's own row does not.
var touching = regexp.MustCompile(`^(INSERT INTO tasks\b|(INSERT INTO|UPDATE|DELETE FROM) (participants|seats|blockers|requests|deferred|outbox)\b)`)

// defineSave registers a statement that compares and swaps one row. When it finds the row changed, it fails with what
// [swapped] says. On Postgres it fails by itself, in the database: so it can go out together with the commit, and the
// commit does not happen.
func defineSave(name, noun, text string) *Stmt {
	st := define(name, text)
	st.saves = noun
	st.postgres = `WITH saved AS (` + st.postgres + ` RETURNING 1) SELECT 1 / COUNT(*) FROM saved`
	return st
}

var (
	markList        = regexp.MustCompile(`\{\{in (\?\d+)\}\}`)
	markHas         = regexp.MustCompile(`\{\{has (\w+) (\?\d+)\}\}`)
	markContains    = regexp.MustCompile(`\{\{contains (\w+) (\?\d+)\}\}`)
	markPlaceholder = regexp.MustCompile(`'[^']*'|\?(\d+)`)
)

func toSQLite(text string) string {
	text = strings.NewReplacer(
		"{{lock}}", "", "{{share}}", "", "{{skip}}", "",
		"{{immediate}}", "IMMEDIATE", "{{notify}}", "?1, ?2", "{{clock}}", "CAST((julianday('now') - 2440587.5) * 86400000000 AS BIGINT)",
		"{{tables}}", "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name",
		"{{each}}", "CROSS JOIN runs r ON r.id IN (SELECT q.id FROM runs q", "{{end}}", ")",
	).Replace(text)
	text = markHas.ReplaceAllString(text, "EXISTS (SELECT 1 FROM json_each($1) WHERE value = $2)")
	text = markContains.ReplaceAllString(text, "instr($1, $2) > 0")
	return markList.ReplaceAllString(text, "IN (SELECT value FROM json_each($1))")
}

// unnumbered takes the numbers off the placeholders and returns what they were.
func unnumbered(text string) (plain string, order []int) {
	plain = markPlaceholder.ReplaceAllStringFunc(text, func(m string) string {
		if strings.HasPrefix(m, "'") {
			return m
		}
		n, err := strconv.Atoi(m[1:])
		if err != nil {
			panic("store: placeholder " + m) // the pattern lets digits pass alone
		}
		order = append(order, n-1)
		return "?"
	})
	return plain, order
}

func toPostgres(text string) string {
	text = strings.NewReplacer(
		// FOR UPDATE would collide with the key-share locks of foreign keys and deadlock crossing commands.
		"{{lock}}", "FOR NO KEY UPDATE", "{{share}}", "FOR SHARE", "{{skip}}", "FOR NO KEY UPDATE SKIP LOCKED",
		"{{immediate}}", "", "{{notify}}", "pg_notify(?1, ?2)", "{{clock}}", "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)",
		"{{tables}}", "SELECT c.relname::text COLLATE \"C\" FROM pg_class c WHERE c.relkind IN ('r', 'S') AND c.relnamespace = current_schema()::regnamespace ORDER BY 1",
		"{{each}}", "JOIN LATERAL (SELECT q.* FROM runs q", "{{end}}", ") r ON TRUE",
	).Replace(text)
	text = markHas.ReplaceAllString(text, "jsonb_exists(${1}::jsonb, $2)")
	text = markContains.ReplaceAllString(text, "strpos($1, $2) > 0")
	text = markList.ReplaceAllString(text, "= ANY(ARRAY(SELECT jsonb_array_elements_text(${1}::jsonb)))")
	return markPlaceholder.ReplaceAllStringFunc(text, func(m string) string {
		if strings.HasPrefix(m, "'") {
			return m
		}
		return "$" + m[1:]
	})
}
