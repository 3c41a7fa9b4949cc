package app

import (
	"context"

	"github.com/fairlead/fairlead/internal/config"
	"github.com/fairlead/fairlead/internal/store"
)

// Backup writes a verified copy of the SQLite database to a new file; a server may be writing to it.
func Backup(ctx context.Context, cfg *config.Config, file string) error {
	return store.BackupFile(ctx, cfg.Database, file)
}

// Restored makes a database that was put back from a copy a new incarnation. No server may be running on it.
func Restored(ctx context.Context, cfg *config.Config) error { return store.Renew(ctx, cfg.Database) }
