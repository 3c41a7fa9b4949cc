package workflow

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
)

func routineNames() Names {
	return Names{Agents: map[string]bool{"coder": true}, Workflows: map[string]bool{"errand": true}}
}

func TestParseRoutine(t *testing.T) {
	t.Parallel()
	got, report := ParseRoutine([]byte(`
routine: weekly
workflow: errand
title: " Write the report "
labels: [project:web]
agent: coder
priority: high
cron: "0 9 * * 1"
zone: Europe/Berlin
missed: all(3)
overlap: queue
webhook: {secret: "0123456789abcdef"}
`), routineNames())
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	want := fairlead.Routine{
		Key: "weekly", Name: "weekly", Workflow: "errand", Title: "Write the report", Labels: []string{"project:web"}, Agent: "coder",
		Priority: fairlead.PriorityHigh, Cron: "0 9 * * 1", Zone: "Europe/Berlin", Missed: "all(3)", Overlap: "queue", Secret: "0123456789abcdef",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routine (-want +got):\n%s", diff)
	}
	s, p, ok, err := RoutineSchedule(&got)
	if err != nil || !ok || s.String() != "0 9 * * 1 Europe/Berlin" || p.String() != "all(3)" {
		t.Errorf("schedule %s, %s, %t, %v", s, p, ok, err)
	}
}

func TestParseRoutineDefaults(t *testing.T) {
	t.Parallel()
	got, report := ParseRoutine([]byte("{routine: r, workflow: w, title: T, every: 90m}"), Names{})
	if err := report.Err(); err != nil {
		t.Fatal(err)
	}
	if got.Missed != "skip" || got.Overlap != "skip" || got.Every != "1h30m0s" || got.Name != "r" {
		t.Errorf("defaults: %+v", got)
	}
	if s, _, ok, err := RoutineSchedule(&got); err != nil || !ok || s.String() != "every 1h30m0s" {
		t.Errorf("schedule %s, %t, %v", s, ok, err)
	}
	if _, _, ok, err := RoutineSchedule(&fairlead.Routine{}); ok || err != nil {
		t.Errorf("a routine without a schedule: %t, %v", ok, err)
	}
}

// TestParseRoutineRefuses: each fault is named with its place and a remedy.
func TestParseRoutineRefuses(t *testing.T) {
	t.Parallel()
	head := "routine: r\nworkflow: errand\ntitle: T\n"
	for name, c := range map[string]struct{ source, want string }{
		"no schedule":       {head, "1:1: nothing ever fires"},
		"unknown key":       {head + "every: 1h\nevry: 1h\n", `5:1: unknown key "evry"`},
		"no title":          {"routine: r\nworkflow: errand\nevery: 1h\n", "1:1: the routine needs `title`"},
		"empty title":       {"routine: r\nworkflow: errand\ntitle: ' '\nevery: 1h\n", "3:8: the title is empty"},
		"long title":        {"routine: r\nworkflow: errand\nevery: 1h\ntitle: " + strings.Repeat("x", 501) + "\n", "4:8: the title is too long"},
		"no such workflow":  {"routine: r\nworkflow: gone\ntitle: T\nevery: 1h\n", "2:11: the workspace has no such workflow"},
		"no such agent":     {head + "every: 1h\nagent: gone\n", "5:8: the workspace has no such agent"},
		"both":              {head + "every: 1h\ncron: '0 9 * * 1'\n", "4:8: a routine has not both"},
		"zone without cron": {head + "every: 1h\nzone: UTC\n", "5:7: a zone counts only with cron"},
		"bad cron":          {head + "cron: '61 9 * * 1'\n", "4:7: the minute of the cron line"},
		"bad zone":          {head + "cron: '0 9 * * 1'\nzone: Mars/North\n", "5:7: unknown time zone"},
		"too often":         {head + "every: 1ms\n", "4:8: every must be at least 1s"},
		"bad missed":        {head + "every: 1h\nmissed: all(0)\n", "5:9: the rule for missed fires is unknown"},
		"bad overlap":       {head + "every: 1h\noverlap: both\n", `5:10: unknown overlap "both"`},
		"bad priority":      {head + "every: 1h\npriority: soon\n", `5:11: unknown priority "soon"`},
		"short secret":      {head + "webhook: {secret: abc}\n", "4:19: the secret must have 16 to 200 bytes"},
		"no secret":         {head + "webhook: {}\n", "4:10: webhook needs `secret`"},
		"bad label":         {head + "every: 1h\nlabels: [\"a\\tb\"]\n", "5:9: not a label"},
		"not a map":         {"[]", "1:1: the routine must be a map"},
		"broken":            {"a: [", ":"},
	} {
		v, report := ParseRoutine([]byte(c.source), routineNames())
		if v.Key != "" || report.Err() == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if got := FileErrors("f", report.Errors); !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		for _, e := range report.Errors {
			if e.Line == 0 {
				t.Errorf("%s: no place: %s", name, e.Message)
			}
		}
	}
}

// FuzzParseRoutine: whatever comes, the parser answers, and what it accepts has a schedule or a secret.
func FuzzParseRoutine(f *testing.F) {
	f.Add("routine: r\nworkflow: errand\ntitle: T\nevery: 1h\n")
	f.Add("routine: r\nworkflow: errand\ntitle: T\ncron: '0 9 * * 1'\nzone: Europe/Berlin\nmissed: all(3)\n")
	f.Add("webhook: {secret: x}\nzone: 1\ncron: []\nmissed: {}")
	f.Fuzz(func(t *testing.T, source string) {
		v, report := ParseRoutine([]byte(source), Names{})
		if report.Err() != nil {
			return
		}
		_, _, ok, err := RoutineSchedule(&v)
		if err != nil || !ok && v.Secret == "" {
			t.Errorf("accepted %q: %t, %v", source, ok, err)
		}
	})
}
