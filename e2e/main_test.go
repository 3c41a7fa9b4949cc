package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// binary is the program under test; TestMain builds it once.
var binary string

// deadline bounds every single wait of a test. What takes longer hangs.
const deadline = 60 * time.Second

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fairlead-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
	if binary = os.Getenv("FAIRLEAD_TEST_BINARY"); binary == "" {
		binary = filepath.Join(dir, "fairlead")
		build := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "../cmd/fairlead")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build fairlead: %v\n%s", err, out)
			return 1
		}
	}
	if binary, err = filepath.Abs(binary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
