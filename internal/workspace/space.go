package workspace

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/fairlead/fairlead"
)

// CheckSpace refuses with unavailable when less is free than the manager wants to be sure of: a disk that is full in
// mid-work costs more than a start that waits.
func (m *Manager) CheckSpace() error {
	free, err := freeBelow(m.dir)
	if err != nil {
		return fairlead.Errorf(fairlead.CodeUnavailable, "the free space cannot be measured").WithOp("check space")
	}
	if free < m.minFree {
		return fairlead.Errorf(fairlead.CodeUnavailable, "only %d MiB are free where workspaces are kept", free>>20).WithOp("check space").
			WithHint("free space until %d MiB are available", m.minFree>>20)
	}
	return nil
}

// freeBelow measures the file system of a directory, or of the nearest parent that exists.
func freeBelow(dir string) (uint64, error) {
	for {
		var st unix.Statfs_t
		err := unix.Statfs(dir, &st)
		if err == nil {
			return st.Bavail * uint64(st.Bsize), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir {
			return 0, err
		}
		dir = filepath.Dir(dir)
	}
}
