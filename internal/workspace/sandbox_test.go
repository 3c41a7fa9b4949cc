package workspace_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/fairlead/fairlead/internal/workspace"
)

func TestS2_SandboxedTreeWritesOnlyWhereItMay(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("Landlock is Linux's")
	}
	b := setup(t)
	tree := b.prepare("FL-1")
	outside := filepath.Join(t.TempDir(), "outside")
	temp := t.TempDir()
	var out strings.Builder
	writable := append([]string{temp, "/nonexistent"}, tree.Writable()...)
	for i, w := range writable { // the tests' own temporary directories lie below the system's
		if w == os.TempDir() {
			writable[i] = temp
		}
	}
	p := start(t, workspace.Spec{Dir: tree.Dir, Writable: writable, Merge: true, Stdout: &out, Env: []string{"TMPDIR=" + temp, "HOME=" + temp},
		Command: []string{"sh", "-c", `
echo x >inside && echo inside works
mkdir -p a/b && mv inside a/b/ && rm a/b/inside && echo moves work
echo x >` + outside + ` || echo outside refused
setsid sh -c 'echo x >` + outside + `' || echo still refused
echo x >` + b.repo + `/.git/hooks/post-commit || echo hooks refused
echo x >/dev/null && echo devices work
echo y >made && git add made && git -c user.name=a -c user.email=a@b commit -qm made && echo commits work
cat ` + b.repo + `/a.txt >/dev/null && echo reads work`}})
	wait(t, p)
	if !p.Confined {
		t.Skip("the kernel has no Landlock")
	}
	for _, want := range []string{"inside works", "moves work", "outside refused", "still refused", "hooks refused", "devices work", "commits work", "reads work"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("the file outside was written")
	}
}
