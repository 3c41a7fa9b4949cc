package workspace

import (
	"context"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead/fairlead"
)

// below returns those of all whose chain of parents leads to one of the roots, without the roots.
func below(all []member, roots map[int]bool) []member {
	parent := make(map[int]int, len(all))
	for _, m := range all {
		parent[m.pid] = m.parent
	}
	var out []member
	for _, m := range all {
		for pid, hops := m.parent, 0; pid > 1 && hops < len(all)+1; pid, hops = parent[pid], hops+1 {
			if roots[pid] {
				out = append(out, m)
				break
			}
		}
	}
	return out
}

func descendants(pid int) []member { return below(processes(), map[int]bool{pid: true}) }

// sweepTree kills everything that bears the mark of one tree, or descends from something that does, and reports
// whether nothing is left.
func sweepTree(mark string, bound time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	_, err := sweep(ctx, func(env []string) bool { return slices.Contains(env, envProcess+"="+mark) })
	return err == nil
}

// Reap kills what earlier servers of this home left behind: everything with the home's marker, and what descends from
// it, except the executions that keep names. It returns the number of processes found, when they are confirmed dead.
// Run it after the lock of the home is held and before anything is claimed. The error says what would not die.
func (l *Launcher) Reap(ctx context.Context, keep func(execution string) bool) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, killBound)
	defer cancel()
	return sweep(ctx, func(env []string) bool {
		if !slices.Contains(env, EnvHome+"="+l.home) {
			return false
		}
		return keep == nil || !keep(valueOf(env, EnvExecution))
	})
}

// Marked lists the processes that bear the marker of an execution, for tests and for `doctor`.
func Marked(execution string) []int {
	var out []int
	for _, m := range processes() {
		if slices.Contains(m.environ(), EnvExecution+"="+execution) {
			out = append(out, m.pid)
		}
	}
	return out
}

func valueOf(env []string, name string) string {
	for _, kv := range env {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// sweep kills everything whose environment matches, with its descendants, until a look finds nothing. Wardens go last:
// as long as they live, orphans with a cleared environment stay below them and are found.
func sweep(ctx context.Context, match func(env []string) bool) (int, error) {
	found := map[int]bool{}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		prey, wardens := quarry(match)
		for _, m := range prey {
			found[m.pid] = true
			m.signal(syscall.SIGKILL)
		}
		if len(prey) == 0 {
			for _, m := range wardens {
				m.signal(syscall.SIGKILL)
			}
		}
		if len(prey)+len(wardens) == 0 {
			return len(found), nil
		}
		select {
		case <-ctx.Done():
			return len(found), fairlead.Errorf(fairlead.CodeInternal, "%d processes of an earlier server are still alive", len(prey)+len(wardens)).
				WithOp("reap processes").WithHint("they are in uninterruptible sleep or belong to another user; end them by hand")
		case <-time.After(pause):
		}
	}
}

// quarry finds what a sweep has to kill. We ourselves are never in it, nor what hangs below us without a marker.
func quarry(match func(env []string) bool) (prey, wardens []member) {
	all := processes()
	self := os.Getpid()
	roots := map[int]bool{}
	for _, m := range all {
		if m.pid == self {
			continue
		}
		env := m.environ()
		switch {
		case !match(env):
			continue
		case slices.Contains(env, envWarden+"=1"):
			wardens = append(wardens, m)
		default:
			prey = append(prey, m)
		}
		roots[m.pid] = true
	}
	ours := below(all, map[int]bool{self: true})
	for _, m := range below(all, roots) {
		if m.pid != self && !roots[m.pid] && !slices.Contains(ours, m) {
			prey = append(prey, m)
		}
	}
	return prey, wardens
}
