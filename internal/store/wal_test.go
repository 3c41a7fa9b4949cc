package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	fairlead "github.com/fairlead/fairlead"
)

// TestWALHasACap writes past the limit while a reader holds an old snapshot.
func TestWALHasACap(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	path := filepath.Join(t.TempDir(), "f.db")
	db, err := Open(t.Context(), path, &Options{WALLimit: limit, ReadLimit: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	begun := make(chan struct{})
	read := make(chan error, 1)
	go func() {
		read <- db.Read(context.Background(), func(r *ReadTx) error {
			if _, err := r.Head(); err != nil {
				return err
			}
			close(begun)
			<-r.ctx.Done() // busy elsewhere, with its snapshot open
			return nil
		})
	}()
	<-begun
	long := string(make([]byte, 200<<10))
	size := func() int64 {
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	for i := 0; size() < 3*limit; i++ {
		if err := db.Write(t.Context(), putLong(fmt.Sprint(i), long)); err != nil {
			t.Fatal(err)
		}
		if i > 1000 {
			break // truncated on the way, as it should be
		}
	}
	if err := <-read; !fairlead.IsCode(err, fairlead.CodeUnavailable) {
		t.Errorf("old reader: got %v, want unavailable", err)
	}
	deadline := time.Now().Add(20 * time.Second)
	for i := 0; size() > limit; i++ {
		if err := db.Write(t.Context(), put(fmt.Sprint("small", i))); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatalf("the log is %d bytes long, want at most %d", size(), limit)
		}
	}
}

// TestBusyElsewhere has another program hold the database (S5).
func TestS5_BusyElsewhere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.group.fault = func(point string) error {
		if point == "begin" {
			return codedError(5)
		}
		return nil
	}
	errs := b.batch(put("a"))
	b.wantCodes(errs, "unavailable")
	b.group.fault = nil
	b.wantCodes(b.batch(put("a")), "")
}

func TestStatementsInBothDialects(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, sqlite, postgres string }{
		{"a = ?1 AND b = ?12 AND c = 'x?1'", "a = ?1 AND b = ?12 AND c = 'x?1'", "a = $1 AND b = $12 AND c = 'x?1'"},
		{"x {{in ?2}} {{lock}}", "x IN (SELECT value FROM json_each(?2)) ", "x = ANY(ARRAY(SELECT jsonb_array_elements_text($2::jsonb))) FOR NO KEY UPDATE"},
		{"{{has labels ?1}}", "EXISTS (SELECT 1 FROM json_each(labels) WHERE value = ?1)", "jsonb_exists(labels::jsonb, $1)"},
		{"{{contains c ?1}} {{share}}{{skip}}", "instr(c, ?1) > 0 ", "strpos(c, $1) > 0 FOR SHAREFOR NO KEY UPDATE SKIP LOCKED"},
	}
	for _, c := range cases {
		if got := toSQLite(c.text); got != c.sqlite {
			t.Errorf("sqlite: got %q, want %q", got, c.sqlite)
		}
		if got := toPostgres(c.text); got != c.postgres {
			t.Errorf("postgres: got %q, want %q", got, c.postgres)
		}
	}
	names := map[string]bool{}
	for _, st := range statements {
		if names[st.name] {
			t.Errorf("statement %s is defined twice", st.name)
		}
		names[st.name] = true
	}
}

func TestColumns(t *testing.T) {
	t.Parallel()
	for _, a := range []fairlead.Actor{{}, fairlead.Person("anna"), {Kind: "agent", Key: "k", Assignment: "a", Run: "r"}, {Kind: "client", Key: "quote\" \\ ü <"}} {
		text, err := actorArg(a).Value()
		if err != nil {
			t.Fatal(err)
		}
		var got fairlead.Actor
		if err := (jsonCol{&got}).Scan(text); err != nil || got != a {
			t.Errorf("%v came back as %v (%v)", a, got, err)
		}
		if plain, err := jsonText(a); err != nil || plain != text {
			t.Errorf("written %v, the encoder writes %s (%v)", text, plain, err)
		}
	}
	if _, err := mapArg(map[string]any{"c": make(chan int)}).Value(); err == nil {
		t.Error("a value that is no JSON was stored")
	}
	for _, bad := range []error{timeCol{new(time.Time)}.Scan("x"), boolCol{new(bool)}.Scan("x"), jsonCol{new(int)}.Scan(int64(1)), jsonCol{new(int)}.Scan("{"),
		seedCol{new(fairlead.Seed)}.Scan("zz")} {
		if bad == nil {
			t.Error("a column of the wrong kind was read")
		}
	}
	if !errors.Is(unknown(nil), ErrUnknown) {
		t.Error("unknown is not ErrUnknown")
	}
}

// TestPragmas holds the settings that durability rests on.
func TestPragmas(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.wantCodes(b.batch(put("a")), "")
	var reader *liteConn
	if err := b.db.Read(t.Context(), func(r *ReadTx) error { reader = r.session.(*liteConn); _, err := r.Head(); return err }); err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		conn   *liteConn
		pragma string
		want   string
	}{
		{b.group.conn, "synchronous", "2"}, // FULL: NORMAL loses acknowledged commits with the power
		{b.group.conn, "journal_mode", "wal"},
		{b.group.conn, "foreign_keys", "1"},
		{b.group.conn, "busy_timeout", "5000"},
		{b.group.conn, "query_only", "0"},
		{reader, "query_only", "1"},
		{reader, "busy_timeout", "5000"},
	}
	for _, c := range cases {
		var got string
		if err := c.conn.conn.QueryRowContext(t.Context(), "PRAGMA "+c.pragma).Scan(&got); err != nil || got != c.want {
			t.Errorf("%s is %s, want %s (%v)", c.pragma, got, c.want, err)
		}
	}
}
