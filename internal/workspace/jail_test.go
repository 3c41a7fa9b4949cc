package workspace_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/workspace"
)

func jail(t *testing.T) (*workspace.Jail, string) {
	t.Helper()
	base := t.TempDir()
	dir := filepath.Join(base, "tree")
	must(t, os.MkdirAll(filepath.Join(dir, "sub"), 0o755))
	must(t, os.WriteFile(filepath.Join(base, "secret"), []byte("s"), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "sub", "in"), []byte("ok"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: x"), 0o644))
	must(t, os.Symlink("../secret", filepath.Join(dir, "out")))
	must(t, os.Symlink(base, filepath.Join(dir, "updir")))
	must(t, os.Symlink(filepath.Join(base, "new"), filepath.Join(dir, "dangling")))
	must(t, os.Symlink("sub/in", filepath.Join(dir, "within")))
	j, err := workspace.OpenJail(dir)
	must(t, err)
	t.Cleanup(func() { must(t, j.Close()) })
	return j, base
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestS2_JailRefusesWhatLeadsOut(t *testing.T) {
	t.Parallel()
	j, base := jail(t)
	for _, name := range []string{"../secret", "sub/../../secret", "/etc/passwd", base + "/secret", "out", "updir/secret", "updir/x",
		"dangling", ".git", "sub/.GIT/config", "a\x00b", "/proc/self/environ", "..", "sub/../.."} {
		if data, err := j.ReadFile(name, 100); err == nil {
			t.Errorf("read %q: got %q", name, data)
		}
		if err := j.WriteFile(name, []byte("x")); err == nil {
			t.Errorf("wrote %q", name)
		} else if c := fairlead.ErrorCode(err); c == fairlead.CodeInternal {
			t.Errorf("write %q: got %v without a code", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(base, "new")); err == nil {
		t.Error("a dangling link was written through")
	}
	if data, err := os.ReadFile(filepath.Join(base, "secret")); err != nil || string(data) != "s" {
		t.Errorf("the file outside changed: %q, %v", data, err)
	}
}

func TestS2_PipesDoNotHoldTheJail(t *testing.T) {
	t.Parallel()
	j, base := jail(t)
	must(t, syscall.Mkfifo(filepath.Join(base, "tree", "pipe"), 0o644))
	must(t, os.Symlink("pipe", filepath.Join(base, "tree", "topipe")))
	for _, name := range []string{"pipe", "topipe"} {
		if _, err := j.ReadFile(name, 10); err == nil {
			t.Errorf("read %s", name)
		}
		if err := j.WriteFile(name, []byte("x")); err == nil {
			t.Errorf("wrote %s", name)
		}
	}
}

func TestS2_JailTakesWhatIsInside(t *testing.T) {
	t.Parallel()
	j, base := jail(t)
	for _, name := range []string{"sub/in", "./sub/../sub/in", "within", filepath.Join(base, "tree", "sub", "in")} {
		if data, err := j.ReadFile(name, 2); err != nil || string(data) != "ok" {
			t.Errorf("%s: got %q, %v", name, data, err)
		}
	}
	if _, err := j.ReadFile("sub/in", 1); !fairlead.IsCode(err, fairlead.CodeTooLarge) {
		t.Errorf("got %v", err)
	}
	if _, err := j.ReadFile("nothing", 1); !fairlead.IsCode(err, fairlead.CodeNotFound) {
		t.Errorf("got %v", err)
	}
	if _, err := j.ReadFile("sub", 1); !fairlead.IsCode(err, fairlead.CodeInvalid) {
		t.Errorf("got %v", err)
	}
	must(t, j.WriteFile("new/deep/file", []byte("1")))
	must(t, j.WriteFile("sub/in", []byte("2")))
	info, err := os.Stat(filepath.Join(base, "tree/sub/in"))
	if err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("got %v, %v", info, err)
	}
	left, err := filepath.Glob(filepath.Join(base, "tree/sub/.*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
