package workspace

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// What is known of a tree stands beside the trees, not in them: an agent can write everything in its tree.

func (m *Manager) metaPath(identifier string) string {
	return filepath.Join(m.dir, ".meta", identifier+".json")
}

func (m *Manager) load(identifier string) (Tree, error) {
	data, err := os.ReadFile(m.metaPath(identifier))
	if err != nil {
		return Tree{}, err
	}
	var t Tree
	if err := json.Unmarshal(data, &t); err != nil {
		return Tree{}, fmt.Errorf("decode workspace record of %s: %w", identifier, err)
	}
	return t, nil
}

func (m *Manager) save(t *Tree) error {
	path := m.metaPath(t.Identifier)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("record workspace: %w", err)
	}
	data, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("record workspace: %w", err)
	}
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return fmt.Errorf("record workspace: %w", err)
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("record workspace: %w", err)
	}
	return nil
}

func (m *Manager) forget(identifier string) error {
	if err := os.Remove(m.metaPath(identifier)); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("forget workspace: %w", err)
	}
	return nil
}

// unregister takes a tree that is no longer there out of its repository's list, and only this one: the repository's
// owner may have trees of their own on a disk that is not mounted.
func (m *Manager) unregister(t *Tree) error {
	if t.GitDir == "" || m.exists(t.Dir) {
		return nil
	}
	if filepath.Dir(t.GitDir) != filepath.Join(t.Common, "worktrees") || !t.enrolled() {
		return nil
	}
	return os.RemoveAll(t.GitDir)
}

// enrolled reports whether the repository has this very tree under the tree's entry. A repository that was made anew in
// the place of an old one may have given the entry's name to another tree.
func (t *Tree) enrolled() bool {
	data, err := os.ReadFile(filepath.Join(t.GitDir, "gitdir"))
	if err != nil {
		return false
	}
	link := strings.TrimSpace(string(data))
	return filepath.Base(link) == ".git" && same(filepath.Dir(link), t.Dir)
}

// same reports whether two paths are one place, however it is reached. The last part need not exist.
func same(a, b string) bool {
	if a == b {
		return true
	}
	dirA, errA := filepath.EvalSymlinks(filepath.Dir(a))
	dirB, errB := filepath.EvalSymlinks(filepath.Dir(b))
	return errA == nil && errB == nil && dirA == dirB && filepath.Base(a) == filepath.Base(b)
}

// putAside moves a directory to where no task looks, instead of deleting it. It returns the new place.
func (m *Manager) putAside(t *Tree) (string, error) {
	kept := filepath.Join(m.dir, ".kept")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		return "", fmt.Errorf("keep workspace: %w", err)
	}
	place := filepath.Join(kept, t.Identifier+"-"+m.stamp())
	for n := 2; m.exists(place); n++ {
		place = strings.TrimSuffix(place, fmt.Sprintf("-%d", n-1)) + fmt.Sprintf("-%d", n)
	}
	if err := os.Rename(t.Dir, place); err != nil {
		return "", fmt.Errorf("keep workspace: %w", err)
	}
	return place, nil
}

func (m *Manager) stamp() string { return m.now().UTC().Format("20060102T150405Z") }
