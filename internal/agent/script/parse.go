package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/fairlead/fairlead"
)

// Script is a parsed script. It never changes.
type Script struct{ rules []rule }

type rule struct {
	prompt *regexp.Regexp
	role   string
	nth    int
	do     []Step
}

// Step is one thing to do. Exactly one member is set.
type Step struct {
	Say   *string         `json:"say,omitempty"`
	Think *string         `json:"think,omitempty"`
	Tool  *Tool           `json:"tool,omitempty"`
	Ask   json.RawMessage `json:"ask,omitempty"` // arguments of ask_person_fairlead; ends the turn parked
	Fail  *Fail           `json:"fail,omitempty"`
	Usage *Usage          `json:"usage,omitempty"`
	Hang  *Duration       `json:"hang,omitempty"` // 0 hangs until it is stopped
	Die   *int            `json:"die,omitempty"`  // the execution exits with this code in mid-turn
	End   string          `json:"end,omitempty"`  // end_turn, limit, refusal, cancelled, parked
}

// Tool is a call of a tool.
type Tool struct {
	Name string          `json:"name"`
	Args json.RawMessage `json:"args,omitempty"`
}

// Fail ends the turn with a failure. In a script it is a class alone, or an object.
type Fail struct {
	Class      fairlead.ErrorClass `json:"class"`
	Message    string              `json:"message,omitempty"`
	RetryAfter Duration            `json:"retry_after,omitempty"`
}

// UnmarshalJSON takes both forms.
func (f *Fail) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &f.Class)
	}
	type plain Fail
	return strict(data, (*plain)(f))
}

// Usage is a model call that is reported. Cost is in millionths of a US dollar; without it the cost is unknown.
type Usage struct {
	Model      string `json:"model,omitempty"`
	Input      int64  `json:"input,omitempty"`
	Output     int64  `json:"output,omitempty"`
	CacheRead  int64  `json:"cache_read,omitempty"`
	CacheWrite int64  `json:"cache_write,omitempty"`
	Cost       *int64 `json:"cost,omitempty"`
}

// Duration is a time span in Go's notation ("90s", "2h").
type Duration time.Duration

// UnmarshalJSON reads the notation; "forever" and 0 are 0.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if string(data) == "0" || string(data) == `"forever"` {
		return nil
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	if err == nil && v < 0 {
		err = fmt.Errorf("duration is negative")
	}
	*d = Duration(v)
	return err
}

// MarshalJSON writes the notation.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Parse reads a script from JSON or YAML. The error is invalid and names the rule and the step.
func Parse(source []byte) (*Script, error) {
	data, err := yaml.YAMLToJSON(source)
	if err != nil {
		return nil, invalid("", "the script is neither YAML nor JSON")
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, invalid("", "a script is a list of rules")
	}
	s := &Script{}
	for i, r := range raw {
		var in struct {
			When struct {
				Prompt string `json:"prompt"`
				Role   string `json:"role"`
				Nth    int    `json:"nth"`
			} `json:"when"`
			Do []Step `json:"do"`
		}
		path := fmt.Sprintf("script[%d]", i)
		if err := strict(r, &in); err != nil {
			return nil, invalid(path, "%s", err)
		}
		re, err := regexp.Compile(in.When.Prompt)
		if err != nil {
			return nil, invalid(path+".when.prompt", "%s", err)
		}
		if in.When.Nth < 0 {
			return nil, invalid(path+".when.nth", "counts from 1")
		}
		for j := range in.Do {
			if err := in.Do[j].check(); err != nil {
				return nil, invalid(fmt.Sprintf("%s.do[%d]", path, j), "%s", err)
			}
		}
		s.rules = append(s.rules, rule{prompt: re, role: in.When.Role, nth: in.When.Nth, do: in.Do})
	}
	return s, nil
}

func (s *Step) check() error {
	n := 0
	for _, set := range []bool{s.Say != nil, s.Think != nil, s.Tool != nil, len(s.Ask) > 0, s.Fail != nil, s.Usage != nil,
		s.Hang != nil, s.Die != nil, s.End != ""} {
		if set {
			n++
		}
	}
	switch {
	case n != 1:
		return fmt.Errorf("a step does exactly one of say, think, tool, ask, fail, usage, hang, die, end")
	case s.Tool != nil && s.Tool.Name == "":
		return fmt.Errorf("a tool needs a name")
	case s.Fail != nil && !knownClass(s.Fail.Class):
		return fmt.Errorf("the class of the failure is unknown")
	case s.End != "" && endOf(s.End) == nil:
		return fmt.Errorf("the reason of the end is unknown")
	}
	return nil
}

func knownClass(c fairlead.ErrorClass) bool {
	switch c {
	case fairlead.ClassTransient, fairlead.ClassLimited, fairlead.ClassBudget, fairlead.ClassDenied, fairlead.ClassConfiguration,
		fairlead.ClassAuthentication, fairlead.ClassUnknownModel, fairlead.ClassEmpty, fairlead.ClassTurnLimit, fairlead.ClassRefusal,
		fairlead.ClassFormat, fairlead.ClassStuck, fairlead.ClassProgram, fairlead.ClassStopped, fairlead.ClassInterrupted:
		return true
	}
	return false
}

func strict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

func invalid(path, format string, args ...any) error {
	msg := fmt.Sprintf(format, args...)
	e := fairlead.Errorf(fairlead.CodeInvalid, "%s", msg).WithOp("parse script")
	if path != "" {
		e.Fields = []fairlead.FieldError{{Path: path, Message: msg}}
	}
	return e
}
