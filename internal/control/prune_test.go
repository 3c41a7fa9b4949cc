package control

import (
	"testing"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// TestPruneForgetsWhatHasEndedAndKeepsWhatIsWaitedFor: a day from now everything is old.
func TestPruneForgetsWhatHasEndedAndKeepsWhatIsWaitedFor(t *testing.T) {
	eachFloor(t, func(t *testing.T, f *floor) {
		ended := f.task("stay")
		done := f.claimed().start()
		done.done()
		asking := f.task("stay")
		parked := f.claimed().start()
		parked.asks()
		parked.tell(&TurnEnd{StopReason: "parked"}, true)
		waiting := f.queued(f.task("stay").ID)
		records := func(task string) (n int) {
			f.read(func(tx *store.ReadTx) error {
				all, err := tx.ListRecords(task, 0, 1000)
				n = len(all)
				return err
			})
			return n
		}
		had := records(ended.ID)

		if n, err := f.c.Prune(t.Context(), Retention{}); err != nil || n != 0 {
			t.Errorf("got %d rows gone, %v; want nothing touched without a time", n, err)
		}
		hourAgo := time.Now().Add(-time.Hour)
		if n, err := f.c.Prune(t.Context(), Retention{Runs: hourAgo, Events: hourAgo, Operations: hourAgo}); err != nil || n != 0 {
			t.Errorf("got %d rows gone, %v; want nothing gone that is young", n, err)
		}
		tomorrow := time.Now().Add(24 * time.Hour)
		n, err := f.c.Prune(t.Context(), Retention{Runs: tomorrow, Events: tomorrow, Operations: tomorrow})
		f.must(err)
		if n == 0 {
			t.Error("nothing went")
		}
		f.read(func(tx *store.ReadTx) error {
			if _, err := tx.LoadRun(done.Run.ID); !fairlead.IsCode(err, fairlead.CodeNotFound) {
				t.Errorf("the ended run is still there: %v", err)
			}
			for what, id := range map[string]string{"parked": parked.Run.ID, "queued": waiting.ID} {
				if _, err := tx.LoadRun(id); err != nil {
					t.Errorf("the %s run is gone: %v", what, err)
				}
			}
			return nil
		})
		if got := records(ended.ID); got != had {
			t.Errorf("the journal has %d records, want its %d", got, had)
		}
		f.see(ended.ID)
		// The log goes on where it was, and what waits still works.
		f.answer(f.open(asking.ID)[0].ID, fairlead.Answer{Text: "yes"})
		f.claimed().start().done()
		if again, err := f.c.Prune(t.Context(), Retention{Events: tomorrow}); err != nil || again == 0 {
			t.Errorf("got %d, %v; want newer events to go as well", again, err)
		}
	})
}
