package archtest

import (
	"strings"
	"testing"
)

// E26: no Go code outside the UI reads `style` or branches on `stage`.
func TestE26_HintsAreForScreensOnly(t *testing.T) {
	t.Parallel()
	for _, f := range checkHints(sources(t)) {
		t.Error(f)
	}
}

func TestE26_CheckerFindsReads(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path, body, want string
	}{
		{"a read in the engine", "internal/engine/x.go", "_ = w.Style", "reads"},
		{"a read in a screen of text", "internal/cli/x.go", "print(s.Stage)", "reads"},
		{"a branch in control", "internal/control/x.go", `if s.Stage == "review" { return }`, "branches"},
		{"a comparison by call", "internal/control/x.go", `_ = strings.EqualFold(s.Stage, "review")`, "branches"},
		{"another name in control", "internal/control/x.go", "st := s.Stage\n_ = st", "another name"},
		{"a named value anywhere", "internal/worker/x.go", "_ = workflow.StageReview", "names"},
		{"a look by name", "internal/control/x.go", `_ = doc["style"]`, "looks"},
		{"a branch in the api", "internal/api/x.go", `if s.Stage != "" { return }`, "branches"},
		{"a switch in the api", "internal/api/x.go", "switch s.Stage {\n}", "branches"},
		{"a look in the api", "internal/api/x.go", "_ = names[s.Stage]", "branches"},
		{"handing on to the database", "internal/control/x.go", "exec(w.Key, w.Style)", ""},
		{"reading from the database", "internal/store/x.go", "scan(&w.Key, &w.Style)", ""},
		{"handing on in the api", "internal/api/x.go", "_ = step{Stage: s.Stage}", ""},
		{"parsing a definition", "internal/workflow/x.go", `if s.Stage == "" { return }`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := checkHints([]source{parse(t, tt.path, "package x\n\nfunc f() {\n"+tt.body+"\n}\n")})
			expect(t, got, tt.want)
		})
	}
}

func TestPureLayerIsPure(t *testing.T) {
	t.Parallel()
	for _, f := range checkPurity(sources(t)) {
		t.Error(f)
	}
}

func TestPurityCheckerFindsFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, path, text, want string
	}{
		{"a goroutine", "internal/engine/x.go", "func f() { go f() }", "goroutine"},
		{"a channel", "internal/policy/x.go", "var c chan int", "channel"},
		{"the clock", "x.go", "var t = time.Now()", "time.Now"},
		{"an init function", "internal/program/flow/x.go", "func init() {}", "init"},
		{"a method named init", "internal/program/x.go", "func (x) init() {}", ""},
		{"arithmetic with times", "internal/schedule/x.go", "var t = time.Unix(0, 0).Add(time.Hour)", ""},
		{"the clock above the layer", "internal/control/x.go", "var t = time.Now()", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			expect(t, checkPurity([]source{parse(t, tt.path, "package x\n\n"+tt.text+"\n")}), tt.want)
		})
	}
}

// expect wants exactly one kind of fault, or none for "".
func expect(t *testing.T, got []fault, want string) {
	t.Helper()
	if want == "" && len(got) > 0 {
		t.Errorf("got %v, want no fault", got)
	}
	if want != "" && (len(got) == 0 || !strings.Contains(got[0].what, want)) {
		t.Errorf("got %v, want a fault with %q", got, want)
	}
}
