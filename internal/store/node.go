package store

import (
	"context"
	"time"

	fairlead "github.com/fairlead/fairlead"
)

const nodeColumns = `id, epoch, host, pid, labels, slots, started_at, dead_at`

var (
	stmtNodeInsert = define("node_insert", `
INSERT INTO nodes (`+nodeColumns+`)
SELECT CAST(?1 AS TEXT), COALESCE(MAX(epoch), 0) + 1, CAST(?2 AS TEXT), CAST(?3 AS BIGINT), CAST(?4 AS TEXT), CAST(?5 AS BIGINT), CAST(?6 AS BIGINT), 0
FROM nodes RETURNING epoch`)
	stmtNodesBury   = define("nodes_bury", `UPDATE nodes SET dead_at = ?1 WHERE dead_at = 0`)
	stmtNodesOfHome = define("nodes_of_home_bury", `UPDATE nodes SET dead_at = ?1 WHERE dead_at = 0 AND id LIKE ?2`)
	stmtNodeDead    = define("node_dead", `UPDATE nodes SET dead_at = ?3 WHERE id = ?1 AND epoch = ?2 AND dead_at = 0`)
	stmtNodes       = define("nodes", `
SELECT `+qualified("n", nodeColumns)+`, COALESCE(b.counter, 0) FROM nodes n LEFT JOIN node_beats b ON b.node = n.id ORDER BY n.epoch`)
	stmtNodesLive = define("nodes_live", `
SELECT `+qualified("n", nodeColumns)+`, COALESCE(b.counter, 0) FROM nodes n LEFT JOIN node_beats b ON b.node = n.id
WHERE n.dead_at = 0 ORDER BY n.epoch`)
	stmtNodesLoad = define("nodes_load", `
SELECT `+qualified("n", nodeColumns)+`, (SELECT COUNT(*) FROM runs r WHERE r.node = n.id AND r.epoch = n.epoch AND r.status IN ('claimed', 'running', 'stopping')),
  COALESCE(b.clock_off, 0)
FROM nodes n LEFT JOIN node_beats b ON b.node = n.id WHERE n.dead_at = 0 ORDER BY n.epoch`)
	stmtClock      = define("clock", `SELECT {{clock}}`)
	stmtClockOff   = define("clock_off", `UPDATE node_beats SET clock_off = ?2 WHERE node = ?1`)
	stmtBeatInsert = define("beat_insert", `INSERT INTO node_beats (node, counter) VALUES (?1, 0)`)
	stmtBeat       = define("beat", `
UPDATE node_beats SET counter = counter + 1
WHERE node = ?1 AND EXISTS (SELECT 1 FROM nodes WHERE id = ?1 AND epoch = ?2 AND dead_at = 0)`)
)

func nodeTargets(n *fairlead.Node) []any {
	return []any{&n.ID, &n.Epoch, &n.Host, &n.PID, jsonCol{&n.Labels}, &n.Slots, timeCol{&n.StartedAt}, timeCol{&n.DeadAt}}
}

func scanNode(s scanner, n *fairlead.Node) error { return s.Scan(nodeTargets(n)...) }

func scanNodeBeat(s scanner, n *fairlead.Node) error {
	return s.Scan(append(nodeTargets(n), &n.Counter)...)
}

// epochTries bounds how often nodes that start at the same instant draw their epochs again.
const epochTries = 20

// BeginEpoch records a start of a process with workers and gives it the next epoch. n.ID must be new with each start.
// On SQLite, where one process has the home, every earlier epoch is dead from here on.
func (db *DB) BeginEpoch(ctx context.Context, n fairlead.Node) (fairlead.Node, error) {
	for try := 1; ; try++ {
		err := db.Write(ctx, func(tx *Tx) error {
			n.StartedAt = tx.Now()
			if db.Dialect() == "sqlite" {
				if _, err := tx.exec(stmtNodesBury, micros(tx.Now())); err != nil {
					return err
				}
			}
			return tx.insertNode(&n)
		})
		if err == nil || !db.IsConstraint(err) || try == epochTries {
			return n, err
		}
	}
}

// BuryEpochs marks the live epochs of nodes dead whose ids begin with a prefix: those of a home whose lock the caller
// holds, so that no process of it can live. The prefix must have no % and _ is taken for any character.
func (db *DB) BuryEpochs(ctx context.Context, prefix string) error {
	return db.Write(ctx, func(tx *Tx) error {
		_, err := tx.exec(stmtNodesOfHome, micros(tx.Now()), prefix+"%")
		return err
	})
}

func (tx *Tx) insertNode(n *fairlead.Node) error {
	err := one(&tx.ReadTx, "node", stmtNodeInsert, into(&n.Epoch), n.ID, n.Host, n.PID, listArg(n.Labels), n.Slots, micros(n.StartedAt))
	if err != nil {
		return err
	}
	err = tx.later(stmtBeatInsert, n.ID)
	return err
}

// Beat raises a node's counter. False: its epoch is dead, and the node has to kill its trees and begin a new one.
func (tx *Tx) Beat(id string, epoch int64) (alive bool, err error) {
	return tx.taken(stmtBeat, id, epoch)
}

// MarkDead declares a node's epoch dead, which alone fences it. False: somebody else did.
func (tx *Tx) MarkDead(id string, epoch int64) (bool, error) {
	return tx.taken(stmtNodeDead, id, epoch, micros(tx.Now()))
}

// ListNodes returns every start that is remembered, by epoch.
func (r *ReadTx) ListNodes() ([]fairlead.Node, error) { return all(r, stmtNodes, scanNodeBeat) }

// LiveNodes returns the starts that nobody has declared dead, by epoch.
func (r *ReadTx) LiveNodes() ([]fairlead.Node, error) { return all(r, stmtNodesLive, scanNodeBeat) }

// NodeLoad is a live node, how many runs it works on, and how far its clock is off, if that keeps it from working.
type NodeLoad struct {
	fairlead.Node
	Runs     int
	ClockOff time.Duration
}

// Free reports whether the node can take one more run of the queue.
func (n *NodeLoad) Free() bool { return n.Runs < n.Slots && n.ClockOff == 0 }

func scanNodeLoad(s scanner, n *NodeLoad) error {
	var off int64
	err := s.Scan(append(nodeTargets(&n.Node), &n.Runs, &off)...)
	n.ClockOff = time.Duration(off) * time.Microsecond
	return err
}

// SetClockOff notes how far a node's clock is off; 0 = it is right enough.
func (tx *Tx) SetClockOff(node string, off time.Duration) error {
	return tx.later(stmtClockOff, node, off.Microseconds())
}

// NodeLoads returns the nodes that nobody has declared dead, by epoch.
func (r *ReadTx) NodeLoads() ([]NodeLoad, error) {
	return shared(r.shelf, func(s *shelf) map[string][]NodeLoad { return s.nodes }, "", func() ([]NodeLoad, error) {
		return all(r, stmtNodesLoad, scanNodeLoad)
	})
}

// Clock is the database's own time. It is asked for to see how far a node's clock is off, and for nothing else: every
// other time comes from [Tx.Now].
func (r *ReadTx) Clock() (at time.Time, err error) {
	err = one(r, "clock", stmtClock, into(timeCol{&at}))
	return at, err
}
