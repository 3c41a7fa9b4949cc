package store

import (
	"context"
	"os"
	"time"
)

// logPause is how long a truncation that readers prevented is not tried again.
const logPause = time.Second

// capLog truncates the write-ahead log when it has grown past its limit, between two batches. Readers cannot hold it
// for longer than Options.ReadLimit. A failure costs only disk space until the next try.
func (g *group) capLog() {
	info, err := os.Stat(g.db.path + "-wal")
	if err != nil || info.Size() < g.db.options.WALLimit {
		return
	}
	now := g.db.options.Now()
	if now.Sub(g.lastCap) < logPause && now.After(g.lastCap) {
		return
	}
	g.lastCap = now
	if g.conn.conn != nil {
		_, _ = g.conn.conn.ExecContext(context.Background(), "PRAGMA wal_checkpoint(TRUNCATE)")
	}
}
