package control

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// Receipts of schedules and counters of heartbeats go with the runs of their time; what is younger stays.
func TestPruneForgetsReceiptsAndHeartbeats(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		now := time.Now().UTC()
		f.must(f.db.Write(t.Context(), func(tx *store.Tx) error {
			for id, at := range map[string]time.Time{"rcp_old": now.AddDate(0, 0, -10), "rcp_new": now} {
				if err := tx.InsertReceipt(fairlead.Receipt{ID: id, Workspace: mainWorkspace, Kind: "routine", Ref: "r", At: at, Until: at, Count: 1, Outcome: "skipped", MadeAt: at}); err != nil {
					return err
				}
				if err := tx.CountBeat("T1", "work", at.Format(time.DateOnly), "skipped"); err != nil {
					return err
				}
			}
			return nil
		}))
		n, err := f.c.Prune(t.Context(), Retention{Events: now.AddDate(0, 0, -5), Operations: now.AddDate(0, 0, -5)})
		if err != nil || n != 0 {
			t.Errorf("without a time for runs %d rows went, %v", n, err)
		}
		n, err = f.c.Prune(t.Context(), Retention{Runs: now.AddDate(0, 0, -5)})
		if err != nil || n != 2 {
			t.Errorf("%d rows went, want 2 (%v)", n, err)
		}
		f.read(func(tx *store.ReadTx) error {
			left, _, err := tx.ListReceipts(mainWorkspace, "routine", "r", store.Page{Limit: 10})
			if err != nil || len(left) != 1 || left[0].ID != "rcp_new" {
				t.Errorf("receipts: %+v, %v", left, err)
			}
			beats, err := tx.ListBeats("T1")
			if err != nil || len(beats) != 1 || beats[0].Day != now.Format(time.DateOnly) {
				t.Errorf("heartbeats: %+v, %v", beats, err)
			}
			return nil
		})
	})
}
