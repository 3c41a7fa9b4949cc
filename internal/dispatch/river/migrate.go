package river

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/fairlead/fairlead/internal/store"
)

// lockMigrate lets one node at a time migrate; the number only has to differ from other advisory locks.
const lockMigrate = 0x6661_6972_0003

// migrate brings River's tables, in a schema of their own, to the newest version that this program's River knows.
func migrate(ctx context.Context, db *store.DB, log *slog.Logger) error {
	pool, err := connect(ctx, db, 2)
	if err != nil {
		return err
	}
	defer pool.Close()
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	// The lock is the session's: the pool's end frees it.
	defer conn.Release()
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1)`, lockMigrate); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if _, err := conn.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+schema); err != nil {
		return fmt.Errorf("make schema: %w", err)
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: schema, Logger: quiet(log)})
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// connect opens a pool of its own beside the store's: River listens, and must not take connections from commands.
func connect(ctx context.Context, db *store.DB, conns int32) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig("")
	if err != nil {
		return nil, fmt.Errorf("configure pool: %w", err)
	}
	config.ConnConfig, config.MaxConns, config.MinConns = db.Postgres(), conns, 0
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	return pool, nil
}

// quiet passes on only what River finds worth a warning: at its other levels it tells of every job.
func quiet(log *slog.Logger) *slog.Logger { return slog.New(&atLeast{log.Handler(), slog.LevelWarn}) }

// atLeast is a handler that drops what is below a level.
type atLeast struct {
	slog.Handler
	level slog.Level
}

// Enabled implements slog.Handler.
func (h *atLeast) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= h.level && h.Handler.Enabled(ctx, l)
}

// WithAttrs implements slog.Handler.
func (h *atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &atLeast{h.Handler.WithAttrs(attrs), h.level}
}

// WithGroup implements slog.Handler.
func (h *atLeast) WithGroup(name string) slog.Handler {
	return &atLeast{h.Handler.WithGroup(name), h.level}
}
