package app

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// home is the directory that a server keeps everything in.
type home struct {
	dir   string
	token string // of the person owner
	hooks string // key that signs webhooks
	mark  string // no other home has it: the marker of this home's processes and tokens
}

// Files and directories of a home.
const (
	tokenFile     = "token"
	markFile      = "home_id"
	hooksFile     = "webhook_key"
	worktreesDir  = "worktrees"
	executionsDir = "executions"
	sessionsDir   = "sessions"
)

// openHome makes the home if it is not there, with its token and its mark, readable by the user alone.
func openHome(dir string) (*home, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make home: %w", err)
	}
	token, err := keep(filepath.Join(dir, tokenFile), 32)
	if err != nil {
		return nil, fmt.Errorf("keep token: %w", err)
	}
	mark, err := keep(filepath.Join(dir, markFile), 8)
	if err != nil {
		return nil, fmt.Errorf("keep home mark: %w", err)
	}
	hooks, err := keep(filepath.Join(dir, hooksFile), 32)
	if err != nil {
		return nil, fmt.Errorf("keep webhook key: %w", err)
	}
	return &home{dir: dir, token: token, mark: mark, hooks: hooks}, nil
}

// keep reads a random text from a file, or makes the file. It appears whole or not at all: it is written beside its
// place and linked there, and the first of two writers wins.
func keep(path string, bytes int) (string, error) {
	b, err := os.ReadFile(path)
	if err == nil && len(strings.TrimSpace(string(b))) > 0 {
		return strings.TrimSpace(string(b)), os.Chmod(path, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	raw := make([]byte, bytes)
	if _, err := rand.Read(raw); err != nil {
		return "", err
	}
	text := hex.EncodeToString(raw)
	tmp, err := os.CreateTemp(filepath.Dir(path), ".new-*") // made with mode 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(text + "\n")
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return "", err
	}
	if err := os.Link(tmp.Name(), path); errors.Is(err, fs.ErrExist) {
		return keep(path, bytes)
	} else if err != nil {
		return "", err
	}
	return text, nil
}

func (h *home) path(parts ...string) string {
	return filepath.Join(append([]string{h.dir}, parts...)...)
}
