package archtest

import "testing"

func TestHabits(t *testing.T) {
	t.Parallel()
	all := sources(t)
	for _, check := range []func([]source) []fault{checkDocs, checkMarks, checkSleeps} {
		for _, f := range check(all) {
			t.Error(f)
		}
	}
}

func TestHabitCheckersFindFaults(t *testing.T) {
	t.Parallel()
	const good = "// Package x is a thing. It guarantees much. It must\n// not know anything.\npackage x\n"
	tests := []struct {
		name, path, text string
		check            func([]source) []fault
		want             string
	}{
		{"no package comment", "internal/x/doc.go", "package x\n", checkDocs, "no package comment"},
		{"a comment elsewhere", "internal/x/x.go", good, checkDocs, "no package comment"},
		{"no guarantee", "internal/x/doc.go", "// Package x must not know y.\npackage x\n", checkDocs, "guarantees"},
		{"no limit", "internal/x/doc.go", "// Package x guarantees y.\npackage x\n", checkDocs, "must not know"},
		{"a good comment", "internal/x/doc.go", good, checkDocs, ""},
		{"a program", "cmd/x/main.go", "// Command x does y.\npackage main\n", checkDocs, ""},
		{"a mark", "internal/x/x.go", "package x\n\n// TODO: later.\n", checkMarks, "TODO"},
		{"a word with a mark in it", "internal/x/x.go", "package x\n\n// A TODOLIST.\n", checkMarks, ""},
		{"a sleep", "internal/x/x_test.go", "package x\n\nfunc f() { time.Sleep(1) }\n", checkSleeps, "sleeps"},
		{"fake time", "internal/x/x_test.go", "package x\n\nimport \"testing/synctest\"\n\nfunc f() { time.Sleep(1) }\n", checkSleeps, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			expect(t, tt.check([]source{parse(t, tt.path, tt.text)}), tt.want)
		})
	}
}
