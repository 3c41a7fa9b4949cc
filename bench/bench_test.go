package main

import (
	"io"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestBenchBaselineWritesWhatAMoveWrites replays a few moves: the counts of rows are checked by ratio itself.
func TestBenchBaselineWritesWhatAMoveWrites(t *testing.T) {
	t.Parallel()
	b := &bench{dir: t.TempDir(), out: io.Discard, report: newReport(), size: quick}
	b.size.bound, b.size.rounds = bound{run: 50 * time.Millisecond}, 3
	model, err := learnMove(t.Context(), filepath.Join(b.dir, "model"))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.ratio(t.Context(), model, 2); err != nil {
		t.Fatal(err)
	}
	if got, want := len(b.report.Results), 3; got != want {
		t.Errorf("got %d results, want %d", got, want)
	}
}

// TestBenchEndsByItself runs every scenario over the real binary with a few operations each.
func TestBenchEndsByItself(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("needs the go command")
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "report.json")
	if err := run(t.Context(), []string{"-quick", "-postgres", "", "-json", path, "-dir", t.TempDir()}, io.Discard); err != nil {
		t.Fatal(err)
	}
}

func TestQuantileIsTheNearestRank(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for i := range 100 {
		took = append(took, time.Duration(100-i)*time.Millisecond)
	}
	l := loadOf(took, time.Second)
	if l.P50 != 50 || l.P99 != 99 || l.Max != 100 || l.PerSecond != 100 {
		t.Errorf("got %+v, want 50, 99, 100 ms and 100/s", l)
	}
}
