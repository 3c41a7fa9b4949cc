package cli

import (
	"fmt"
	"io"
)

// databaseFlag names the database of a command that works on it without a server.
type databaseFlag struct {
	Database string `help:"postgres://… or the path of a SQLite file; default: the home's." placeholder:"URL"`
}

func (d databaseFlag) settings() map[string]string { return map[string]string{"database": d.Database} }

type backupCmd struct {
	databaseFlag
	File string `arg:"" help:"File to make; it must not exist."`
}

func (c *backupCmd) Run(e *env) error {
	cfg, err := e.settings(c.settings())
	if err != nil {
		return err
	}
	if err := e.Process.Backup(e.ctx, cfg, c.File); err != nil {
		return err
	}
	return e.show(map[string]string{"file": c.File}, func(w io.Writer) { fmt.Fprintln(w, c.File, "is a verified copy") })
}

type restoredCmd struct{ databaseFlag }

func (c *restoredCmd) Run(e *env) error {
	cfg, err := e.settings(c.settings())
	if err != nil {
		return err
	}
	return e.Restored(e.ctx, cfg)
}
