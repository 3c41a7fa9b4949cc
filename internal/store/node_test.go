package store_test

import (
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// A home that starts again takes its own earlier epochs for dead, and nobody else's.
func TestR11_AHomeBuriesItsOwnEpochs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if db.Dialect() == "sqlite" {
			return // one process has the home: BeginEpoch buries all
		}
		for _, id := range []string{"nod_aa_1", "nod_ab_1", "nod_aa_2"} {
			if _, err := db.BeginEpoch(t.Context(), fairlead.Node{ID: id, Host: "h", PID: 1}); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.BuryEpochs(t.Context(), "nod_aa_"); err != nil {
			t.Fatal(err)
		}
		var live []fairlead.Node
		if err := db.Read(t.Context(), func(tx *store.ReadTx) (err error) {
			live, err = tx.LiveNodes()
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if len(live) != 1 || live[0].ID != "nod_ab_1" {
			t.Errorf("got live nodes %+v, want only the other home's", live)
		}
	})
}
