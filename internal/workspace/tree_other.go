//go:build unix && !linux

package workspace

import (
	"os"
	"strconv"
	"syscall"
	"time"
)

// Without /proc there is no look at other processes: a tree is its process group here, and what leaves the group is
// not found.

func selfExe() string {
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return exe
}

// BootTime is the time on a clock that server and warden share; here the wall clock.
func BootTime() time.Duration { return time.Duration(time.Now().UnixNano()) }

func becomeReaper() {}

func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func dup(from, to int) error { return syscall.Dup2(from, to) }

func signalName(s syscall.Signal) string { return "signal " + strconv.Itoa(int(s)) }

type member struct{ pid, parent int }

func processes() []member { return nil }

func (m member) environ() []string { return nil }

func (m member) signal(s syscall.Signal) { _ = syscall.Kill(m.pid, s) }

func treeMemory(int) int64 { return 0 }

// confine has no means here.
func confine([]string) (bool, error) { return false, nil }
