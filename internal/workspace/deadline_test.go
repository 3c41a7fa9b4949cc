package workspace

import (
	"testing"
	"time"
)

// TestR38_AWardenAndTheSleepOfItsMachine: the warden's decision at instants of the clock that goes on in a sleep. Where one
// process has the database there is no lease and so no deadline: a laptop that sleeps kills nothing.
func TestR38_AWardenAndTheSleepOfItsMachine(t *testing.T) {
	t.Parallel()
	const lease = 20 * time.Second
	for name, c := range map[string]struct {
		deadline, now time.Duration
		want          bool
	}{
		"no lease, awake":                  {0, time.Minute, false},
		"no lease, an hour's sleep":        {0, 25 * time.Hour, false},
		"a lease, just before its end":     {time.Hour + lease, time.Hour + lease - 1, false},
		"a lease, at its end":              {time.Hour + lease, time.Hour + lease, true},
		"a lease, the machine slept on":    {time.Hour + lease, 3 * time.Hour, true},
		"renewed before the end was seen":  {time.Hour + 25*time.Second, time.Hour + lease, false},
		"a machine that has just started":  {lease, time.Second, false},
		"taken away when the epoch is new": {0, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &warden{deadline: c.deadline}
			if got := w.overdue(c.now); got != c.want {
				t.Errorf("got %v at %v with a deadline at %v, want %v", got, c.now, c.deadline, c.want)
			}
		})
	}
}
