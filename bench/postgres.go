package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"net/url"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
)

// scratchDatabase makes an empty database on the server and returns its URL; drop removes it.
func scratchDatabase(ctx context.Context, admin string) (at string, drop func(), err error) {
	u, err := url.Parse(admin)
	if err != nil {
		return "", nil, fmt.Errorf("read Postgres url: %w", err)
	}
	db, err := sql.Open("pgx", admin)
	if err != nil {
		return "", nil, err
	}
	name := "fairlead_bench_" + strings.ToLower(rand.Text()[:10])
	if _, err := db.ExecContext(ctx, `CREATE DATABASE `+name); err != nil {
		return "", nil, joinClose(fmt.Errorf("create database: %w", err), db)
	}
	u.Path = "/" + name
	return u.String(), func() {
		_, _ = db.ExecContext(context.WithoutCancel(ctx), `DROP DATABASE `+name+` WITH (FORCE)`)
		_ = db.Close()
	}, nil
}
