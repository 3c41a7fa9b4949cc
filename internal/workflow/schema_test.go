package workflow

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func compiledSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("workflow.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("workflow.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t testing.TB, s *jsonschema.Schema, source []byte) error {
	t.Helper()
	root, bad := readYAML(source)
	if bad != nil {
		t.Fatal(bad.message)
	}
	raw, err := json.Marshal(root.plainValue())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(doc)
}

func TestSchemaAcceptsWhatCompileAccepts(t *testing.T) {
	t.Parallel()
	s := compiledSchema(t)
	for _, w := range Templates() {
		if err := validate(t, s, w.Source); err != nil {
			t.Errorf("%s: %v", w.Key, err)
		}
	}
	for _, path := range []string{"testdata/spellings/ours.yaml", "testdata/spellings/adr0004.yaml"} {
		if err := validate(t, s, read(t, path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestSchemaRefusesUnknownWords(t *testing.T) {
	t.Parallel()
	s := compiledSchema(t)
	samples, err := filepath.Glob("testdata/refused/unknown-[akst]*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"unknown-key-top", "unknown-key-step", "unknown-trigger", "unknown-action", "unknown-argument", "unknown-style", "unknown-stage",
		"unknown-terminal", "unknown-target", "unknown-priority", "unknown-role", "wip-zero", "transition-incomplete", "two-kinds"} {
		path := "testdata/refused/" + name + ".yaml"
		if !slices.Contains(samples, path) {
			continue
		}
		if validate(t, s, read(t, path)) == nil {
			t.Errorf("the schema accepts %s", name)
		}
	}
}

// The schema and the reader know the same keys.
func TestSchemaNamesTheKeysOfTheReader(t *testing.T) {
	t.Parallel()
	type def struct {
		Properties map[string]json.RawMessage
		OneOf      []struct{ Properties map[string]json.RawMessage }
	}
	var doc struct {
		Properties map[string]json.RawMessage
		Defs       map[string]def `json:"$defs"`
	}
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	same := func(what string, properties map[string]json.RawMessage, keys []string) {
		t.Helper()
		if diff := cmp.Diff(slices.Sorted(slices.Values(keys)), slices.Sorted(maps.Keys(properties))); diff != "" {
			t.Errorf("%s (-reader +schema):\n%s", what, diff)
		}
	}
	steps := slices.Clone(stepKeys)
	for _, trigger := range triggerNames() {
		steps = append(steps, "on_"+trigger)
	}
	same("workflow", doc.Properties, workflowKeys)
	same("step", doc.Defs["step"].Properties, steps)
	same("on", doc.Defs["on"].Properties, triggerNames())
	same("participant", doc.Defs["participant"].Properties, participantKeys)
	same("transition", doc.Defs["transition"].Properties, transitionKeys)
	same("heartbeat", doc.Defs["heartbeat"].Properties, heartbeatKeys)
	same("wait_for_quorum", doc.Defs["wait"].Properties, waitKeys)
	same("program", doc.Defs["program"].OneOf[1].Properties, programKeys)
	same("action", doc.Defs["action"].OneOf[1].Properties, actionNames())
	for kind, keys := range argumentKeys {
		same(string(kind), doc.Defs[string(kind)].Properties, keys)
	}
}

func TestSchemaIsPublished(t *testing.T) {
	t.Parallel()
	published, err := os.ReadFile("../../docs/workflow.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(published, Schema()) {
		t.Error("docs/workflow.schema.json differs from internal/workflow/workflow.schema.json: copy it")
	}
}
