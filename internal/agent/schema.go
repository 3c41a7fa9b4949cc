package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/fairlead/fairlead"
)

// Checker checks arguments of calls against the schemas of a box. It holds compiled schemas and never changes.
type Checker struct {
	specs   map[string]ToolSpec
	schemas map[string]*jsonschema.Schema
}

// NewChecker compiles the schemas of the tools. A schema that does not compile is the tool author's error.
func NewChecker(tools []ToolSpec) (*Checker, error) {
	c := &Checker{specs: map[string]ToolSpec{}, schemas: map[string]*jsonschema.Schema{}}
	for _, t := range tools {
		if _, twice := c.specs[t.Name]; twice {
			return nil, fairlead.Errorf(fairlead.CodeInvalid, "two tools are named %s", t.Name)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(t.Schema))
		if err != nil {
			return nil, fmt.Errorf("read schema of %s: %w", t.Name, err)
		}
		comp := jsonschema.NewCompiler()
		comp.UseLoader(jsonschema.SchemeURLLoader{}) // a schema that points elsewhere is refused
		url := "tool:" + t.Name
		if err := comp.AddResource(url, doc); err != nil {
			return nil, fmt.Errorf("add schema of %s: %w", t.Name, err)
		}
		if c.schemas[t.Name], err = comp.Compile(url); err != nil {
			return nil, fmt.Errorf("compile schema of %s: %w", t.Name, err)
		}
		c.specs[t.Name] = t
	}
	return c, nil
}

// Check returns the tool of a call when the call may run as it stands. Otherwise the result says what is wrong and
// what is expected, in words for the model.
func (c *Checker) Check(call Call) (ToolSpec, *Result) {
	spec, ok := c.specs[call.Name]
	if !ok {
		return ToolSpec{}, &Result{Outcome: OutcomeInvalid, Text: "there is no tool of this name; " + c.names()}
	}
	args := call.Args
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(args))
	if err == nil {
		if _, object := doc.(map[string]any); !object {
			err = fmt.Errorf("not an object")
		} else {
			err = c.schemas[call.Name].Validate(doc)
		}
	}
	if err != nil {
		return spec, &Result{Outcome: OutcomeInvalid, Text: "the arguments do not fit: " + explain(err) +
			"\nexpected by " + call.Name + ": " + string(spec.Schema)}
	}
	return spec, nil
}

func (c *Checker) names() string {
	var all []string
	for n := range c.specs {
		all = append(all, n)
	}
	if len(all) == 0 {
		return "there are no tools"
	}
	return "the tools are: " + strings.Join(sorted(all), ", ")
}

// explain keeps the lines of a validation error that name a place, without the schema's address.
func explain(err error) string {
	lines := strings.Split(err.Error(), "\n")
	if len(lines) > 1 {
		lines = lines[1:]
	}
	if len(lines) > 8 {
		lines = lines[:8]
	}
	return strings.Join(lines, "\n")
}
