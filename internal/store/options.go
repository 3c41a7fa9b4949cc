package store

import (
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Options tune a [DB]. The zero value of each field is its default; nil options are all defaults.
type Options struct {
	// Now is the only clock of the store; default time.Now.
	Now func() time.Time
	// Migrations holds NNNN_name.sql files; default the embedded ones.
	Migrations fs.FS
	// Exclusive takes the lock of the home the SQLite file lies in: a server wants it, a second server is refused.
	Exclusive bool
	// Readers is the number of SQLite reading connections; default 4.
	Readers int
	// MaxConns bounds the Postgres pool; default 16.
	MaxConns int
	// ReadLimit ends a reader that takes longer; default 2 s.
	ReadLimit time.Duration
	// WriteLimit ends a Postgres transaction that takes longer; default 30 s.
	WriteLimit time.Duration
	// BatchLimit is how many commands share one durable commit at most; default 64.
	BatchLimit int
	// WALLimit is the size of the write-ahead log, in bytes, at which it is truncated; default 64 MiB.
	WALLimit int64
	// RunTwice runs every function of Write twice and keeps the second run: a function that carries something over from
	// its first try is found by any test.
	RunTwice bool
	// Trips, if not nil, is told of every round trip of a transaction to Postgres, with the names of the statements it carried.
	Trips func(statements []string)
	// Fatal is called when a COMMIT failed with an I/O error: what is durable is then unknown, and the process must end.
	// The default writes one line to stderr and exits with status 70.
	Fatal func(error)
}

const (
	defaultReaders    = 4
	defaultMaxConns   = 16
	defaultReadLimit  = 2 * time.Second
	defaultWriteLimit = 30 * time.Second
	defaultBatch      = 64
	defaultWALLimit   = 64 << 20
	exitIO            = 70
)

// withDefaults returns a copy of o with every unset field set.
func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Migrations == nil {
		c.Migrations = Migrations()
	}
	c.Readers = positive(c.Readers, defaultReaders)
	c.MaxConns = positive(c.MaxConns, defaultMaxConns)
	c.ReadLimit = positive(c.ReadLimit, defaultReadLimit)
	c.WriteLimit = positive(c.WriteLimit, defaultWriteLimit)
	c.BatchLimit = positive(c.BatchLimit, defaultBatch)
	c.WALLimit = positive(c.WALLimit, defaultWALLimit)
	if c.Fatal == nil {
		c.Fatal = func(err error) {
			fmt.Fprintln(os.Stderr, "fairlead: database failed while committing:", err)
			os.Exit(exitIO)
		}
	}
	return c
}

func positive[T int | int64 | time.Duration](v, otherwise T) T {
	if v > 0 {
		return v
	}
	return otherwise
}
