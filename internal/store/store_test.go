package store_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

func TestStatementsPrepareOnBoth(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if err := db.Check(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
