package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver

	"github.com/fairlead/fairlead"
)

// The order in which the baseline writes: a row after those it refers to.
var writeOrder = []string{"operations", "tasks", "visits", "assignments", "runs", "run_events", "wakes", "records", "events"}

// baseline writes the rows of moves with prepared statements and nothing else: no reading, no deciding, no JSON. Its
// group commit is that of the store: one transaction for all who wait, each in a savepoint, synchronous FULL.
type baseline struct {
	model []writes // of one move, in writeOrder
	db    *sql.DB
	conn  *sql.Conn
	texts []string
	stmts []*sql.Stmt
	begin, commit, savepoint,
	release *sql.Stmt
	tasks []*taskPlace
	seed  fairlead.Seed
	ids   int
	moves int
}

// taskPlace is where a task of the baseline's database stands.
type taskPlace struct {
	id, run, assignment, session string
	visit, seq                   int64
}

// learnMove makes one real move and returns the rows it wrote.
func learnMove(ctx context.Context, dir string) ([]writes, error) {
	e, err := openEngine(ctx, dir, 1)
	if err != nil {
		return nil, err
	}
	defer e.db.Close() //nolint:errcheck // a scratch database
	// The first moves make what stays (a session, labels); the fourth is like all later ones.
	for n := range 3 {
		if err := e.move(ctx, 1, 0, n); err != nil {
			return nil, err
		}
	}
	db, err := sql.Open("sqlite", e.path)
	if err != nil {
		return nil, err
	}
	defer db.Close() //nolint:errcheck // read only
	before, _, err := contents(ctx, db)
	if err != nil {
		return nil, err
	}
	if err := e.move(ctx, 1, 0, 3); err != nil {
		return nil, err
	}
	after, names, err := contents(ctx, db)
	if err != nil {
		return nil, err
	}
	return inOrder(difference(before, after, names))
}

func inOrder(found []writes) (out []writes, err error) {
	for _, name := range writeOrder {
		for _, w := range found {
			if w.table == name {
				out = append(out, w)
			}
		}
	}
	if len(out) != len(found) {
		return nil, fmt.Errorf("a move writes tables the baseline does not know: %d of %d are known", len(out), len(found))
	}
	return out, nil
}

// openBaseline opens a database that an engine has made and left, with one connection as the store has it.
func openBaseline(ctx context.Context, path string, model []writes) (*baseline, error) {
	pragmas := "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)" +
		"&_pragma=temp_store(MEMORY)&_pragma=cache_size(-16000)&_pragma=wal_autocheckpoint(4000)"
	b := &baseline{model: model, seed: fairlead.Seed{1}}
	var err error
	if b.db, err = sql.Open("sqlite", "file:"+path+pragmas); err != nil {
		return nil, err
	}
	if b.conn, err = b.db.Conn(ctx); err != nil {
		return nil, joinClose(err, b.db)
	}
	if err := b.prepare(ctx); err != nil {
		return nil, joinClose(err, b.db)
	}
	return b, nil
}

func (b *baseline) prepare(ctx context.Context) error {
	for _, w := range b.model {
		b.texts = append(b.texts, w.statements()...)
	}
	for text, to := range map[string]**sql.Stmt{
		"BEGIN IMMEDIATE": &b.begin, "COMMIT": &b.commit, "SAVEPOINT member": &b.savepoint, "RELEASE SAVEPOINT member": &b.release,
	} {
		p, err := b.conn.PrepareContext(ctx, text) //nolint:sqlclosecheck // lives as long as the connection
		if err != nil {
			return err
		}
		*to = p
	}
	for _, text := range b.texts {
		p, err := b.conn.PrepareContext(ctx, text) //nolint:sqlclosecheck // lives as long as the connection
		if err != nil {
			return fmt.Errorf("prepare %s: %w", text, err)
		}
		b.stmts = append(b.stmts, p)
	}
	return b.places(ctx)
}

// places reads where the tasks of the measured workflow stand.
func (b *baseline) places(ctx context.Context) error {
	rows, err := b.conn.QueryContext(ctx, `SELECT t.id, r.id, r.assignment, r.session, t.visit, t.record_seq
		FROM tasks t JOIN runs r ON r.task = t.id AND r.status = 'queued' WHERE t.workflow = 'bench' ORDER BY t.id`)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // its error is also Err's
	for rows.Next() {
		p := &taskPlace{}
		if err := rows.Scan(&p.id, &p.run, &p.assignment, &p.session, &p.visit, &p.seq); err != nil {
			return err
		}
		b.tasks = append(b.tasks, p)
	}
	return rows.Err()
}

// statements are the texts that write the rows: one insert for all rows of a table, one update for each changed row.
func (w *writes) statements() (out []string) {
	for _, c := range w.update {
		out = append(out, "UPDATE "+w.table+" SET "+strings.Join(c.columns, " = ?, ")+" = ? WHERE "+strings.Join(w.key, " = ? AND ")+" = ?")
	}
	if len(w.insert) > 0 {
		columns := w.inserted()
		one := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ") + ")"
		out = append(out, "INSERT INTO "+w.table+" ("+strings.Join(columns, ", ")+") VALUES "+
			strings.TrimSuffix(strings.Repeat(one+", ", len(w.insert)), ", "))
	}
	return out
}

// inserted are the columns that an insert names: all but a number that the database gives.
func (w *writes) inserted() []string {
	if w.table == "events" {
		return w.columns[1:]
	}
	return w.columns
}

// id makes an id like those of the engine.
func (b *baseline) id(prefix string, now time.Time) string {
	b.ids++
	return fairlead.NewID(prefix, now, b.seed, b.ids)
}

// close ends the baseline.
func (b *baseline) close() error { return joinClose(b.conn.Close(), b.db) }
