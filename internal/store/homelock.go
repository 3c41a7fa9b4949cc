package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	fairlead "github.com/fairlead/fairlead"
)

// HomeLock shows that this process alone works in a home. The system releases it when the process ends in any way.
type HomeLock struct{ file *os.File }

// LockHome takes the lock of a home directory, which it creates. A home that another process holds is a conflict.
func LockHome(home string) (*HomeLock, error) {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, fmt.Errorf("create home: %w", err)
	}
	path := filepath.Join(home, "fairlead.lock")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	// The file itself stays for ever: removing a lock file lets two processes hold two files of one name.
	if err := flock(f); err != nil {
		closeErr := f.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fairlead.Conflict(fairlead.ReasonBusy, "another fairlead server uses %s", home).
				WithHint("stop it, or give this one a home of its own with --home; several nodes need --database postgres://…")
		}
		return nil, errors.Join(fmt.Errorf("lock home: %w", err), closeErr)
	}
	return &HomeLock{file: f}, nil
}

// lockPatience is how long a home may seem to be held: a child that a killed server was just forking shares the lock
// until it executes its own program.
const lockPatience = time.Second

func flock(f *os.File) error {
	for late := time.Now().Add(lockPatience); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(late) {
			return err
		}
	}
}

// Release gives the lock back. Releasing a nil lock does nothing.
func (l *HomeLock) Release() error {
	if l == nil || l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
