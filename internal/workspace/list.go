package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// List returns the identifiers of all tasks that have a tree, in order; none when there is no directory yet.
func (m *Manager) List() ([]string, error) {
	entries, err := os.ReadDir(m.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list workspaces: %w", err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() && identifierPattern.MatchString(e.Name()) {
			out = append(out, e.Name())
		}
	}
	return out, nil
}
