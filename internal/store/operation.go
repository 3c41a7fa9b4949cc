package store

import (
	"encoding/hex"
	"fmt"
	"time"

	fairlead "github.com/fairlead/fairlead"
)

var (
	stmtOpInsert = define("op_insert", `
INSERT INTO operations (workspace, scope, id, fingerprint, seed, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (workspace, scope, id) DO NOTHING`)

	stmtOpLoad = define("op_load", `
SELECT workspace, scope, id, fingerprint, seed, status, result, at FROM operations WHERE workspace = ?1 AND scope = ?2 AND id = ?3`)

	stmtOpResult = defineSave("op_result", "operation", `
UPDATE operations SET status = ?4, result = ?5 WHERE workspace = ?1 AND scope = ?2 AND id = ?3`)
)

func scanOp(s scanner, o *fairlead.Operation) error {
	return s.Scan(&o.Workspace, &o.Scope, &o.ID, &o.Fingerprint, seedCol{&o.Seed}, &o.Status, rawCol{&o.Result}, timeCol{&o.At})
}

// systemScope is the scope of what outbox and timers do: it alone may come under a task's lock, because "LockTask first
// applies the task's undelivered outbox rows, each under its own operation". Deliver such a row with LockTask first:
// then two deliveries of one row meet at the task and not crosswise.
var systemScope = fairlead.Engine().OpScope()

// Op records that the command is being carried out, and is a command's first statement. A command that was carried out
// already is returned with its result, and nothing is written; whether it is the same command is the caller's to
// compare. A second one that runs at the same time waits here.
func (tx *Tx) Op(workspace, scope string, id fairlead.OpID, fingerprint string, seed fairlead.Seed) (*fairlead.Operation, error) {
	if scope != systemScope || tx.order.rank < rankTask {
		tx.order.take(rankOp, workspace+"/"+scope+"/"+string(id))
	}
	n, err := tx.exec(stmtOpInsert, workspace, scope, id, fingerprint, hex.EncodeToString(seed[:]), micros(tx.opTime()))
	if err != nil || n == 1 {
		return nil, err
	}
	o, err := maybe(&tx.ReadTx, stmtOpLoad, scanOp, workspace, scope, id)
	if err == nil && o == nil {
		return nil, notFound("operation")
	}
	return o, err
}

// opTime is not Now: the operation is recorded before the locks are taken, and Now has to be read after them.
func (tx *Tx) opTime() time.Time { return tx.clock() }

// PutResult keeps the answer of the command for whoever asks again.
func (tx *Tx) PutResult(workspace, scope string, id fairlead.OpID, status int, result []byte) error {
	return tx.later(stmtOpResult, workspace, scope, id, status, string(result))
}

// LoadOp returns a recorded operation, or nil.
func (r *ReadTx) LoadOp(workspace, scope string, id fairlead.OpID) (*fairlead.Operation, error) {
	return maybe(r, stmtOpLoad, scanOp, workspace, scope, id)
}

func decodeSeed(text string, s *fairlead.Seed) error {
	if _, err := hex.Decode(s[:], []byte(text)); err != nil || len(text) != 2*len(s) {
		return fmt.Errorf("seed column is not a seed")
	}
	return nil
}
