package workspace

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func selfExe() string { return "/proc/self/exe" } // also right after the file was replaced by an upgrade

// BootTime is the time since the machine started, sleep included: the clock that server and warden share.
func BootTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// becomeReaper makes every orphan of the tree our child.
func becomeReaper() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func dup(from, to int) error { return unix.Dup3(from, to, 0) }

func signalName(s syscall.Signal) string { return unix.SignalName(s) }

// member is a process as one look at /proc showed it.
type member struct {
	pid, parent int
	born        string // start time in ticks: with the pid an identity
	zombie      bool
}

// look reads one process; ok is false when it is gone.
func look(pid int) (m member, ok bool) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return m, false
	}
	i := bytes.LastIndexByte(data, ')') // the name before it may hold anything
	if i < 0 {
		return m, false
	}
	f := strings.Fields(string(data[i+1:]))
	if len(f) < 20 {
		return m, false
	}
	parent, err := strconv.Atoi(f[1])
	return member{pid: pid, parent: parent, born: f[19], zombie: f[0] == "Z" || f[0] == "X"}, err == nil
}

// processes lists all processes that are not zombies.
func processes() []member {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var out []member
	for _, n := range names {
		pid, err := strconv.Atoi(n)
		if err != nil {
			continue
		}
		if m, ok := look(pid); ok && !m.zombie {
			out = append(out, m)
		}
	}
	return out
}

// environ reads the environment a process was started with; nil when it is another user's.
func (m member) environ() []string {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(m.pid), "environ"))
	if err != nil {
		return nil
	}
	return strings.Split(string(data), "\x00")
}

// signal reaches this process only: a pid that was given to another since is left alone.
func (m member) signal(s syscall.Signal) {
	fd, err := unix.PidfdOpen(m.pid, 0)
	if err != nil {
		if err == unix.ENOSYS || err == unix.EPERM {
			_ = syscall.Kill(m.pid, s)
		}
		return
	}
	defer unix.Close(fd)
	if now, ok := look(m.pid); ok && now.born == m.born {
		_ = unix.PidfdSendSignal(fd, s, nil, 0)
	}
}

// treeMemory sums the resident memory below a process.
func treeMemory(root int) int64 {
	var sum int64
	for _, m := range descendants(root) {
		data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(m.pid), "statm"))
		if err != nil {
			continue
		}
		f := strings.Fields(string(data))
		if len(f) > 1 {
			pages, _ := strconv.ParseInt(f[1], 10, 64)
			sum += pages * int64(os.Getpagesize())
		}
	}
	return sum
}
