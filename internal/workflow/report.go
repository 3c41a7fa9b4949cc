package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
)

// maxFindings bounds how many errors and how many warnings of one file are reported: a reader mends the first ones.
const maxFindings = 100

// Report is what the reading of a file found. A file with errors is never used; warnings refuse nothing.
type Report struct {
	Errors   []fairlead.FieldError
	Warnings []fairlead.FieldError
}

// Err returns nil for a file without errors, else one *fairlead.Error of code invalid whose Fields are the errors in
// the order of the file.
func (r *Report) Err() error {
	if len(r.Errors) == 0 {
		return nil
	}
	first := r.Errors[0]
	e := fairlead.Errorf(fairlead.CodeInvalid, "%s", first.Message)
	if first.Line > 0 {
		e.Message = fmt.Sprintf("line %d, column %d: %s", first.Line, first.Column, first.Message)
	}
	if n := len(r.Errors) - 1; n > 0 {
		e.Message += fmt.Sprintf(" (and %d more)", n)
	}
	e.Hint = first.Remedy
	e.Fields = slices.Clone(r.Errors)
	return e
}

// FileErrors renders findings for people, one a line: `file:line:column: message (remedy)`.
func FileErrors(file string, findings []fairlead.FieldError) string {
	var b strings.Builder
	for _, f := range findings {
		b.WriteString(file)
		if f.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
		}
		b.WriteString(": " + f.Message)
		if f.Remedy != "" {
			b.WriteString(" (" + f.Remedy + ")")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func (r *Report) fail(pos Position, path, message, remedy string) {
	if len(r.Errors) < maxFindings {
		r.Errors = append(r.Errors, finding(pos, path, message, remedy))
	}
}

func (r *Report) warn(pos Position, path, message, remedy string) {
	if len(r.Warnings) < maxFindings {
		r.Warnings = append(r.Warnings, finding(pos, path, message, remedy))
	}
}

func finding(pos Position, path, message, remedy string) fairlead.FieldError {
	return fairlead.FieldError{Path: path, Line: pos.Line, Column: pos.Column, Message: message, Remedy: remedy}
}

// sort puts findings into the order of the file; those of one place keep the order in which they were found.
func (r *Report) sort() {
	byPlace := func(a, b fairlead.FieldError) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	}
	slices.SortStableFunc(r.Errors, byPlace)
	slices.SortStableFunc(r.Warnings, byPlace)
}
