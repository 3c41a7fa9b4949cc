package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// syncTime measures what a durable commit waits for at least: one fsync after four KiB more.
func syncTime(path string) (l Load, err error) {
	f, err := os.Create(path)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(path)) }()
	page := make([]byte, 4096)
	var took []time.Duration
	began := time.Now()
	for range 300 {
		if _, err := f.Write(page); err != nil {
			return l, err
		}
		at := time.Now()
		if err := f.Sync(); err != nil {
			return l, err
		}
		took = append(took, time.Since(at))
	}
	return loadOf(took, time.Since(began)), nil
}

// binarySize measures the binary as it is released: static, stripped.
func binarySize(_ context.Context, b *bench, _ place) error {
	info, err := os.Stat(b.bin)
	if err != nil {
		return err
	}
	b.add(Result{Name: "binary size", Value: round(float64(info.Size()) / (1 << 20)), Unit: "MiB", Goals: []Goal{below("value", 45)}})
	return nil
}

// engineRatio compares control without HTTP with the database alone, turn and turn about, so that both see the same
// machine.
func engineRatio(ctx context.Context, b *bench, _ place) error {
	model, err := learnMove(ctx, filepath.Join(b.dir, "model"))
	if err != nil {
		return err
	}
	for _, c := range b.size.callers {
		if err := b.ratio(ctx, model, c); err != nil {
			return err
		}
	}
	return nil
}

// times are processor time since the machine started, in seconds: spent on anything, and there at all.
type times struct{ busy, all float64 }

// machineTime reads the first line of /proc/stat: user, nice, system, idle, iowait and so on, in hundredths of a second.
func machineTime() (t times, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return t, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	const idle, wait, guest = 3, 4, 8 // a guest's time is in the user's already
	for i, field := range strings.Fields(line)[1:] {
		n, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return t, fmt.Errorf("read /proc/stat: %w", err)
		}
		if i >= guest {
			break
		}
		t.all += n / 100
		if i != idle && i != wait {
			t.busy += n / 100
		}
	}
	return t, nil
}
