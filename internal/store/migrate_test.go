package store_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// schema is the embedded schema with further files.
func schema(t *testing.T, more map[string]string) fstest.MapFS {
	t.Helper()
	names, err := fs.Glob(store.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	out := fstest.MapFS{}
	for _, name := range names {
		text, err := fs.ReadFile(store.Migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = &fstest.MapFile{Data: text}
	}
	for name, text := range more {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func TestS6_Migrations(t *testing.T) {
	t.Parallel()
	storetest.Backends(t, func(t *testing.T, b storetest.Backend) {
		next := map[string]string{"9002_more.sql": "CREATE TABLE more (id {{serial}} PRIMARY KEY, k TEXT {{c}} NOT NULL);\n" +
			"-- sqlite only\nINSERT INTO more (k) VALUES ('sqlite');\n-- end\n-- postgres only\nINSERT INTO more (k) VALUES ('postgres');\n-- end\n"}
		broken := map[string]string{"9002_more.sql": next["9002_more.sql"], "9003_broken.sql": "CREATE TABLE half (id BIGINT);\nCREATE TABLE half (id BIGINT);\n"}

		db := b.Open(t, nil)
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			return tx.InsertNotice(fairlead.Notice{ID: "old", Workspace: "w", Kind: "k"})
		})
		if err != nil {
			t.Fatal(err)
		}
		_ = db.Close()

		// A failed migration leaves what was there usable, by the old binary too.
		if db, err := store.Open(t.Context(), b.URL, &store.Options{Migrations: schema(t, map[string]string{"9003_broken.sql": broken["9003_broken.sql"]})}); err == nil {
			_ = db.Close()
			t.Fatal("a broken migration was applied")
		}
		_ = b.Open(t, nil).Close()

		db = b.Open(t, &store.Options{Migrations: schema(t, next)})
		dump, err := db.Dump(t.Context())
		if err != nil || !strings.Contains(string(dump), `{"id":1,"k":"`+b.Name+`"}`) || !strings.Contains(string(dump), `"id":"old"`) {
			t.Errorf("after the upgrade: %v\n%s", err, dump)
		}
		if strings.Contains(string(dump), "# half") {
			t.Error("half of a failed migration was kept")
		}
		_ = db.Close()

		refusals := map[string]*store.Options{
			"older binary":  nil,
			"another build": {Migrations: schema(t, map[string]string{"9002_more.sql": "CREATE TABLE other (id BIGINT);"})},
		}
		for name, o := range refusals {
			_, err := store.Open(t.Context(), b.URL, o)
			if !fairlead.IsCode(err, fairlead.CodeRefused) {
				t.Errorf("%s: got %v, want refused", name, err)
			}
		}
	})
}

func TestS6_CopyBeforeUpgrade(t *testing.T) {
	t.Parallel()
	b := storetest.SQLite(t)
	_ = b.Open(t, nil).Close()
	_ = b.Open(t, &store.Options{Migrations: schema(t, map[string]string{"9002_more.sql": "CREATE TABLE more (id BIGINT);"})}).Close()
	copies, err := filepath.Glob(strings.TrimPrefix(b.URL, "sqlite://") + ".before-upgrade-*")
	if err != nil || len(copies) != 1 {
		t.Fatalf("copies: %v, %v", copies, err)
	}
	private(t, copies[0])
	db, err := store.Open(t.Context(), copies[0], nil) // by the old binary
	if err != nil {
		t.Fatalf("open the copy: %v", err)
	}
	_ = db.Close()
}

func TestBackupWhileOpen(t *testing.T) {
	t.Parallel()
	b := storetest.SQLite(t)
	db := b.Open(t, nil)
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	private(t, path)
	want, err := db.Dump(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	restored, err := store.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = restored.Close() }()
	if got, err := restored.Dump(t.Context()); err != nil || string(got) != string(want) {
		t.Errorf("the copy differs (%v)", err)
	}
	if err := db.Backup(t.Context(), path); err == nil {
		t.Error("a backup overwrote a file")
	}
}

// private fails the test unless only the owner may read the file.
func private(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: mode %v, want 0600 (%v)", filepath.Base(path), info.Mode().Perm(), err)
	}
}

func TestRenewMakesAnotherIncarnation(t *testing.T) {
	t.Parallel()
	storetest.Backends(t, func(t *testing.T, b storetest.Backend) {
		db := b.Open(t, nil)
		old := db.EventID(1)
		if again := b.Open(t, nil); again.EventID(1) != old {
			t.Error("opening again made another epoch")
		}
		_ = db.Close()
		if err := store.Renew(t.Context(), b.URL); err != nil {
			t.Fatal(err)
		}
		if p, ok := b.Open(t, nil).ParseEventID(old); ok {
			t.Errorf("an id of the old incarnation is read as position %d", p)
		}
	})
}

func TestS1_FilesArePrivate(t *testing.T) {
	t.Parallel()
	b := storetest.SQLite(t)
	db := b.Open(t, nil)
	path := strings.TrimPrefix(b.URL, "sqlite://")
	if err := db.Write(t.Context(), func(tx *store.Tx) error { return tx.BumpRevision("w") }); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		private(t, path+suffix)
	}
}

func TestR23_SecondServerOnOneHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	open := func() (*store.DB, error) {
		return store.Open(t.Context(), "sqlite://"+filepath.Join(home, "fairlead.db"), &store.Options{Exclusive: true})
	}
	db, err := open()
	if err != nil {
		t.Fatal(err)
	}
	_, err = open()
	var e *fairlead.Error
	if !asError(err, &e) || e.Code != fairlead.CodeConflict || !strings.Contains(e.Message, home) || e.Hint == "" {
		t.Errorf("second server: got %v, want a conflict that names the home and says what to do", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db, err = open()
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	_ = db.Close()
}

func TestOpenRefusesUnknownURLs(t *testing.T) {
	t.Parallel()
	for _, u := range []string{"", "mysql://x/y", "sqlite://", "sqlite://%zz"} {
		if _, err := store.Open(t.Context(), u, nil); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("url %q: got %v, want invalid", u, err)
		}
	}
}
