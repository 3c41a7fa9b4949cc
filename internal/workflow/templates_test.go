package workflow

import (
	"testing"
)

// workspace is what a new workspace holds.
func workspace() Names {
	n := Names{Agents: map[string]bool{}, Duties: map[string]bool{"ceo": true}, People: map[string]bool{"owner": true},
		Workflows: map[string]bool{}, Programs: map[string]bool{}}
	for _, p := range Profiles() {
		n.Agents[p.Key] = true
	}
	for _, p := range Programs() {
		n.Programs[p.Kind+":"+p.Name] = true
	}
	for _, w := range Templates() {
		n.Workflows[w.Key] = true
	}
	return n
}

func TestTemplatesCompileWithoutAFinding(t *testing.T) {
	t.Parallel()
	steps := map[string][]string{
		"kanban":         {"backlog", "in_progress", "review", "done"},
		"plan-build":     {"plan", "build", "review", "done"},
		"feature":        {"spec", "build", "review", "qa", "done"},
		"office-default": {"backlog", "work", "review", "approval", "done"},
		"coordination":   {"coordinate"},
		"routine":        {"work", "done"},
		"errand":         {"errand", "done"},
		"fix-bug":        {"fix", "review", "done"},
		"report":         {"write", "done"},
	}
	for _, w := range Templates() {
		d, report := Compile(w.Source, workspace())
		if report.Err() != nil || len(report.Warnings) > 0 {
			t.Errorf("findings:\n%s%s", FileErrors(w.Key, report.Errors), FileErrors(w.Key, report.Warnings))
			continue
		}
		var got []string
		for _, s := range d.Steps {
			got = append(got, s.Key)
		}
		if d.Key != w.Key || !equal(got, steps[w.Key]) {
			t.Errorf("%s: got key %s and steps %v, want %v", w.Key, d.Key, got, steps[w.Key])
		}
		delete(steps, w.Key)
	}
	if len(steps) > 0 {
		t.Errorf("missing templates: %v", steps)
	}
	if TemplateSource("kanban") == nil || TemplateSource("none") != nil {
		t.Error("TemplateSource does not find by name")
	}
}

func equal(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
