package storetest

import (
	"path/filepath"
	"testing"

	"github.com/fairlead/fairlead/internal/store"
)

// Backend is one fresh, empty database of one kind. It can be opened several times, as several nodes do.
type Backend struct {
	Name string // "sqlite" or "postgres"
	URL  string
}

// Open opens the database; it is closed when the test ends. nil options are the defaults.
func (b Backend) Open(t testing.TB, o *store.Options) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), b.URL, o)
	if err != nil {
		t.Fatalf("open %s: %v", b.Name, err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("close %s: %v", b.Name, err)
		}
	})
	return db
}

// SQLite makes an empty SQLite database in a directory of the test's own.
func SQLite(t testing.TB) Backend {
	t.Helper()
	return Backend{Name: "sqlite", URL: "sqlite://" + filepath.Join(t.TempDir(), "fairlead.db")}
}

// Backends runs fn as parallel subtests, one for each kind of database.
func Backends(t *testing.T, fn func(t *testing.T, b Backend)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, Postgres(t))
	})
}

// Each runs fn as parallel subtests, one for each kind of database, opened with every function of Write running twice.
func Each(t *testing.T, fn func(t *testing.T, db *store.DB)) {
	t.Helper()
	EachWith(t, &store.Options{RunTwice: true}, fn)
}

// EachWith is Each with options of the test's own.
func EachWith(t *testing.T, o *store.Options, fn func(t *testing.T, db *store.DB)) {
	t.Helper()
	Backends(t, func(t *testing.T, b Backend) { fn(t, b.Open(t, o)) })
}
