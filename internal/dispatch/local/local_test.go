package local_test

import (
	"context"
	"testing"
	"time"

	"github.com/fairlead/fairlead/internal/dispatch"
	"github.com/fairlead/fairlead/internal/dispatch/dispatchtest"
	"github.com/fairlead/fairlead/internal/dispatch/local"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		dispatchtest.Run(t, db, func(_ testing.TB, db *store.DB) dispatch.Dispatcher {
			return local.New(db, &local.Options{NoSweep: true, Retry: time.Millisecond})
		})
	})
}

func TestSweepLooksWithoutAWake(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		d := local.New(db, &local.Options{Sweep: time.Millisecond})
		looks := make(chan struct{}, 1000)
		if err := d.Start(t.Context(), look(looks), nil); err != nil {
			t.Fatalf("start: %v", err)
		}
		for range 3 {
			<-looks
		}
		if err := d.Stop(t.Context()); err != nil {
			t.Fatalf("stop: %v", err)
		}
	})
}

func look(looks chan<- struct{}) func(context.Context) error {
	return func(context.Context) error {
		select {
		case looks <- struct{}{}:
		default:
		}
		return nil
	}
}
