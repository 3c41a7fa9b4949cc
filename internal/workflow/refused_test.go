package workflow

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestE6_EveryRefusalNamesItsPlaceAndRemedy compiles each sample of testdata/refused; the golden file beside it holds the errors.
// E6: what is not understood is refused with line and column. E18: so is an automatic cycle.
func TestE6_EveryRefusalNamesItsPlaceAndRemedy(t *testing.T) {
	t.Parallel()
	samples, err := filepath.Glob("testdata/refused/*.yaml")
	if err != nil || len(samples) < 40 {
		t.Fatalf("got %d samples, %v", len(samples), err)
	}
	for _, sample := range samples {
		t.Run(strings.TrimSuffix(filepath.Base(sample), ".yaml"), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(sample)
			if err != nil {
				t.Fatal(err)
			}
			d, report := Compile(source, workspace())
			if d != nil || report.Err() == nil {
				t.Fatal("it was accepted")
			}
			for _, e := range report.Errors {
				if e.Line == 0 && !strings.HasPrefix(filepath.Base(sample), "yaml-") {
					t.Errorf("no place: %s", e.Message)
				}
			}
			golden(t, strings.TrimSuffix(sample, ".yaml")+".golden", FileErrors(filepath.Base(sample), report.Errors))
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestReportErr(t *testing.T) {
	t.Parallel()
	_, report := Compile([]byte("workflow: x\nstyle: big\nsteps: []\n"), Names{})
	err := report.Err()
	if !fairlead.IsCode(err, fairlead.CodeInvalid) || !strings.Contains(err.Error(), "line 2, column 8") || !strings.Contains(err.Error(), "1 more") {
		t.Errorf("got %v", err)
	}
	if (&Report{}).Err() != nil {
		t.Error("a report without errors is an error")
	}
	if got := Lint([]byte("workflow: x\nstyle: big\nsteps: []\n"), Names{}); len(got.Errors) != 2 {
		t.Errorf("lint: got %v", got.Errors)
	}
}

func TestReportIsBounded(t *testing.T) {
	t.Parallel()
	_, report := Compile([]byte("workflow: x\n"+strings.Repeat("steps: []\n", 1)+bad(150)), Names{})
	if len(report.Errors) != maxFindings {
		t.Errorf("got %d errors", len(report.Errors))
	}
}

func bad(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("bad_" + strings.Repeat("x", i+1) + ": 1\n")
	}
	return b.String()
}
