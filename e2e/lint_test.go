package e2e

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// command runs the binary against the server and returns its output and exit code.
func (s *server) command(args ...string) (stdout, stderr string, code int) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), binary, append(args, "--home", s.home, "--url", s.url)...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = environ(), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		s.t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

var finding = regexp.MustCompile(`^error: (\S+\.yaml):(\d+):(\d+): (.+)$`)

// E6: lint refuses every sample with file, line, column, the fault and a remedy, and with an exit code.
func TestE6_LintOfEveryRefusedSample(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	samples := must(filepath.Glob("../internal/workflow/testdata/refused/*.yaml"))(t)
	if len(samples) < 40 {
		t.Fatalf("%d samples", len(samples))
	}
	for _, sample := range samples {
		name := filepath.Base(sample)
		out, errs, code := s.command("workflow", "lint", sample)
		if code != 5 || !strings.HasPrefix(errs, "fairlead: ") {
			t.Errorf("%s: exit code %d, %s", name, code, errs)
		}
		remedies, errorLines := 0, 0
		for line := range strings.Lines(out) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "warning: ") || strings.HasPrefix(line, "error: ") {
				if strings.HasSuffix(line, ")") {
					remedies++
				}
			}
			if !strings.HasPrefix(line, "error: ") {
				continue
			}
			errorLines++
			m := finding.FindStringSubmatch(line)
			if m == nil && !strings.HasPrefix(name, "yaml-") {
				t.Errorf("%s: no place in %q", name, line)
			}
			if m != nil && m[1] != sample {
				t.Errorf("%s: the file is %s in %q", name, m[1], line)
			}
		}
		if errorLines == 0 || remedies == 0 {
			t.Errorf("%s: %d errors, %d remedies:\n%s", name, errorLines, remedies, out)
		}
	}
}
