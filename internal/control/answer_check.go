package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fairlead/fairlead"
)

// Verdicts of an approval as an answer writes them.
const (
	verdictApprove = "approve"
	verdictReject  = "reject"
	verdictRevise  = "revise"
)

// answerBytes bounds the text of an answer.
const answerBytes = 64 << 10

// checkAnswer refuses an answer of the wrong shape, an unknown option or values that break the schema, and returns the
// answer in its one spelling.
func checkAnswer(q *fairlead.Request, a fairlead.Answer) (fairlead.Answer, error) {
	if len(a.Text)+len(a.Note)+len(a.Values) > answerBytes {
		return a, invalidField("text", "the answer is too long", "use at most 64 KiB and attach the rest to the task")
	}
	if bytes.Equal(bytes.TrimSpace(a.Values), []byte("null")) {
		a.Values = nil
	}
	if a.Decline {
		return a, onlyFields(a, "decline", "text")
	}
	switch q.Kind {
	case fairlead.RequestSecret:
		return a, fairlead.Errorf(fairlead.CodeRefused, "this server keeps no secrets").
			WithHint("put the value into the agent's environment and decline the request")
	case fairlead.RequestApproval:
		return checkApproval(a)
	case fairlead.RequestDecision:
		return checkDecision(a)
	case fairlead.RequestQuestion:
		return a, firstOf(onlyFields(a, "text"), needText(a))
	case fairlead.RequestChoice, fairlead.RequestPermission:
		return a, firstOf(onlyFields(a, "option"), knownOption(q, a))
	case fairlead.RequestForm:
		return a, firstOf(onlyFields(a, "values"), checkValues(q.Schema, a.Values))
	}
	return a, checkShape(q, a)
}

// checkShape is the rule for every kind without one of its own: what the request shows is what can be answered.
func checkShape(q *fairlead.Request, a fairlead.Answer) error {
	switch {
	case len(q.Options) > 0:
		return firstOf(onlyFields(a, "option", "text"), knownOption(q, a))
	case len(q.Schema) > 0:
		return firstOf(onlyFields(a, "values", "text"), checkValues(q.Schema, a.Values))
	}
	return firstOf(onlyFields(a, "text"), needText(a))
}

func checkApproval(a fairlead.Answer) (fairlead.Answer, error) {
	if err := onlyFields(a, "verdict", "text"); err != nil {
		return a, err
	}
	switch a.Verdict {
	case verdictApprove, string(fairlead.VerdictApproved):
		a.Verdict = verdictApprove
	case verdictReject, string(fairlead.VerdictRejected):
		a.Verdict = verdictReject
	case verdictRevise, "changes_requested":
		a.Verdict = verdictRevise
	default:
		return a, invalidField("verdict", "unknown verdict", "use approve, reject or revise")
	}
	return a, nil
}

func checkDecision(a fairlead.Answer) (fairlead.Answer, error) {
	if err := onlyFields(a, "verdict", "note"); err != nil {
		return a, err
	}
	v, err := fairlead.ParseVerdict(a.Verdict)
	if err != nil {
		return a, invalidField("verdict", "unknown verdict", "use approve, reject, changes_requested or comment")
	}
	a.Verdict = string(v)
	return a, nil
}

// onlyFields refuses fields that mean nothing for the request's kind: the answer is one to another question.
func onlyFields(a fairlead.Answer, allowed ...string) error {
	set := []struct {
		name string
		has  bool
	}{
		{"text", a.Text != ""}, {"option", a.Option != ""}, {"values", len(a.Values) > 0}, {"verdict", a.Verdict != ""},
		{"note", a.Note != ""}, {"decline", a.Decline},
	}
	for _, f := range set {
		if f.has && !slices.Contains(allowed, f.name) {
			return invalidField(f.name, "a request of this kind has no such answer", "use "+strings.Join(allowed, ", "))
		}
	}
	return nil
}

func needText(a fairlead.Answer) error {
	if strings.TrimSpace(a.Text) == "" {
		return invalidField("text", "the answer is empty", "write a text, or decline")
	}
	return nil
}

func knownOption(q *fairlead.Request, a fairlead.Answer) error {
	ids := make([]string, 0, len(q.Options))
	for _, o := range q.Options {
		if o.ID == a.Option {
			return nil
		}
		ids = append(ids, o.ID)
	}
	return invalidField("option", "no such option", "use one of: "+strings.Join(ids, ", "))
}

// checkValues checks the values of a form. What is wrong is named by its place and the broken rule, never by its value.
func checkValues(schema, values json.RawMessage) error {
	if len(values) == 0 {
		return invalidField("values", "the form is empty", "fill it in, or decline")
	}
	s, err := compileForm(schema)
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(values))
	if err != nil {
		return invalidField("values", "not JSON", "send an object with the form's fields")
	}
	var broken *jsonschema.ValidationError
	if err := s.Validate(v); errors.As(err, &broken) {
		e := fairlead.Errorf(fairlead.CodeInvalid, "the values do not fit the form").WithHint("see the schema of the request")
		e.Fields = formErrors(broken, nil)
		return e
	}
	return nil
}

func formErrors(broken *jsonschema.ValidationError, out []fairlead.FieldError) []fairlead.FieldError {
	if len(broken.Causes) == 0 {
		path := "values"
		if len(broken.InstanceLocation) > 0 {
			path += "." + strings.Join(broken.InstanceLocation, ".")
		}
		return append(out, fairlead.FieldError{Path: path, Message: "breaks the rule " + strings.Join(broken.ErrorKind.KeywordPath(), ".")})
	}
	for _, c := range broken.Causes {
		out = formErrors(c, out)
	}
	return out
}

// refers reports whether a schema has a reference anywhere.
func refers(schema any) bool {
	switch s := schema.(type) {
	case map[string]any:
		for k, v := range s {
			if k == "$ref" || k == "$dynamicRef" || k == "$recursiveRef" || refers(v) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(s, refers)
	}
	return false
}

// nothingElse keeps the compiler from loading other schemas, a meta-schema named by a form among them: a question must
// not make the server read files.
type nothingElse struct{}

// Load implements jsonschema.URLLoader.
func (nothingElse) Load(string) (any, error) { return nil, errors.New("a form stands by itself") }

// formBytes bounds the schema of a form.
const formBytes = 16 << 10

// compileForm reads the JSON Schema of a form. References are refused, also those within it: without them a form is a
// tree, every screen can show it, and checking values cannot take longer than both are large.
func compileForm(schema json.RawMessage) (*jsonschema.Schema, error) {
	if len(schema) > formBytes {
		return nil, invalidField("schema", "the form is too large", "use at most 16 KiB, or ask several questions")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, invalidField("schema", "not JSON", "send a JSON Schema")
	}
	if refers(doc) {
		return nil, invalidField("schema", "a form has no references", "write the parts out where they are used")
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothingElse{})
	const place = "fairlead:form"
	if err := c.AddResource(place, doc); err != nil {
		return nil, invalidField("schema", "not a JSON Schema", "send a JSON Schema")
	}
	s, err := c.Compile(place)
	if err != nil {
		return nil, invalidField("schema", "not a JSON Schema", "send a JSON Schema")
	}
	return s, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
