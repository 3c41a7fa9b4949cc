package store

import (
	fairlead "github.com/fairlead/fairlead"
)

const tokenColumns = `id, workspace, kind, key, hash, home, created_at` //nolint:gosec // names of columns

var (
	stmtTokenInsert = define("token_insert", `
INSERT INTO tokens (`+tokenColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (hash) DO NOTHING`)
	stmtTokenFind   = define("token_find", `SELECT `+tokenColumns+` FROM tokens WHERE hash = ?1`)
	stmtTokens      = define("tokens", `SELECT `+tokenColumns+` FROM tokens WHERE (?1 = '' OR workspace = ?1) ORDER BY created_at, id`)
	stmtTokenDelete = define("token_delete", `DELETE FROM tokens WHERE id = ?1`)
	stmtTokensHome  = define("tokens_home", `DELETE FROM tokens WHERE home = ?1 AND hash <> ?2`)
)

func scanToken(s scanner, t *fairlead.Token) error {
	return s.Scan(&t.ID, &t.Workspace, &t.Kind, &t.Key, &t.Hash, &t.Home, timeCol{&t.CreatedAt})
}

// InsertToken lets somebody in and reports whether the token is new.
func (tx *Tx) InsertToken(t *fairlead.Token) (bool, error) {
	return tx.taken(stmtTokenInsert, t.ID, t.Workspace, t.Kind, t.Key, t.Hash, t.Home, micros(t.CreatedAt))
}

// TokenByHash returns the token with a hash, nil for none.
func (r *ReadTx) TokenByHash(hash string) (*fairlead.Token, error) {
	return maybe(r, stmtTokenFind, scanToken, hash)
}

// ListTokens returns the tokens of a workspace ("" = all), oldest first.
func (r *ReadTx) ListTokens(workspace string) ([]fairlead.Token, error) {
	return all(r, stmtTokens, scanToken, workspace)
}

// DeleteToken lets nobody in by that token any more and reports whether it was there.
func (tx *Tx) DeleteToken(id string) (bool, error) { return tx.taken(stmtTokenDelete, id) }

// ReplaceHomeTokens removes the tokens a home made earlier, except the one with the hash.
func (tx *Tx) ReplaceHomeTokens(home, keep string) error {
	_, err := tx.exec(stmtTokensHome, home, keep)
	return err
}
