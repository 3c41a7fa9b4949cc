package storetest

import (
	"fmt"
	"testing"

	"github.com/fairlead/fairlead/internal/store"
)

// readerPanics: whoever reads on the same connection afterwards has a snapshot of its own, from its first look to its last.
func readerPanics(t *testing.T, b Backend) {
	db := b.Open(t, &store.Options{Readers: 1, MaxConns: 2})
	for i := range 40 {
		func() {
			defer func() {
				if p := recover(); p != "boom" {
					t.Errorf("got panic %v, want the reader's own", p)
				}
			}()
			_ = db.Read(t.Context(), func(*store.ReadTx) error { panic("boom") })
		}()
		read(t, db, func(r *store.ReadTx) error {
			before, _, err := r.ListNotices("w", true, store.Page{Limit: 100})
			write(t, db, func(tx *store.Tx) error { return tx.InsertNotice(notice(fmt.Sprintf("n%02d", i))) })
			after, _, err1 := r.ListNotices("w", true, store.Page{Limit: 100})
			if len(before) != i || len(after) != i {
				t.Errorf("one snapshot has %d rows, then %d; want %d", len(before), len(after), i)
			}
			return first(err, err1)
		})
	}
}
