package store_test

import (
	"testing"

	"github.com/fairlead/fairlead/internal/store/storetest"
)

// TestConformance covers properties 3, 5 and 6 and R28's refused members on both databases.
func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, storetest.SQLite)
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, storetest.Postgres)
	})
}
