package tool

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
)

func (b *Box) writeFile() tool {
	return tool{
		spec: agent.ToolSpec{
			Name: "write_file", Effect: agent.EffectIdempotent, Touches: []string{agent.TouchFiles},
			Description: "Writes a whole file of the workspace, making its directories and replacing what was there.",
			Schema: json.RawMessage(`{"type":"object","properties":{
				"path":{"type":"string","minLength":1,"description":"relative to the workspace"},
				"content":{"type":"string"}},
				"required":["path","content"],"additionalProperties":false}`),
		},
		run: func(_ context.Context, call agent.Call) agent.Result { return b.change(call) },
	}
}

func (b *Box) editFile() tool {
	return tool{
		spec: agent.ToolSpec{
			Name: "edit_file", Effect: agent.EffectIdempotent, Touches: []string{agent.TouchFiles},
			Description: "Replaces text in a file of the workspace. old must stand in the file exactly once, unless all is true.",
			Schema: json.RawMessage(`{"type":"object","properties":{
				"path":{"type":"string","minLength":1,"description":"relative to the workspace"},
				"old":{"type":"string","minLength":1,"description":"text as it stands in the file, with its white space"},
				"new":{"type":"string"},
				"all":{"type":"boolean","description":"replace every occurrence"}},
				"required":["path","old","new"],"additionalProperties":false}`),
		},
		run: func(_ context.Context, call agent.Call) agent.Result { return b.change(call) },
	}
}

// edit is a change of one file, worked out but not made.
type edit struct {
	path          string
	before, after []byte
	fresh         bool // there is no file yet
}

// change works a change out and makes it.
func (b *Box) change(call agent.Call) agent.Result {
	b.writing.Lock()
	defer b.writing.Unlock()
	e, bad := b.plan(call)
	if bad != nil {
		return *bad
	}
	if err := b.jail.WriteFile(e.path, e.after); err != nil {
		return refusal(err)
	}
	r := done("changed %s", e.path)
	if e.fresh {
		r = done("made %s", e.path)
	}
	r.Paths, r.Facts = []string{e.path}, e.facts()
	return r
}

func (e *edit) facts() map[string]string {
	f := map[string]string{"path": e.path, "before": hash(e.before), "after": hash(e.after)}
	if e.fresh {
		f["before"] = ""
	}
	return f
}

// plan works out what a call of write_file or edit_file would write.
func (b *Box) plan(call agent.Call) (*edit, *agent.Result) {
	in, bad := args[struct {
		Path, Content, Old, New string
		All                     bool
	}](call)
	if bad != nil {
		return nil, bad
	}
	e := &edit{path: in.Path}
	var err error
	e.before, err = b.jail.ReadFile(in.Path, maxFile)
	e.fresh = fairlead.IsCode(err, fairlead.CodeNotFound) && call.Name == "write_file"
	if err != nil && !e.fresh {
		r := refusal(err)
		return nil, &r
	}
	if call.Name == "write_file" {
		e.after = []byte(in.Content)
		return e, nil
	}
	text := string(e.before)
	switch n := strings.Count(text, in.Old); {
	case n == 0:
		return nil, &agent.Result{Outcome: agent.OutcomeError, Text: "old does not stand in the file; read the file again"}
	case n > 1 && !in.All:
		return nil, &agent.Result{Outcome: agent.OutcomeError,
			Text: fmt.Sprintf("old stands in the file %d times; give more of its surroundings, or set all", n)}
	}
	e.after = []byte(strings.ReplaceAll(text, in.Old, in.New))
	return e, nil
}

// Foresee says what an edit will leave behind.
func (b *Box) Foresee(_ context.Context, call agent.Call) map[string]string {
	if _, bad := b.checker.Check(call); bad != nil || call.Name != "write_file" && call.Name != "edit_file" {
		return nil
	}
	b.writing.Lock()
	defer b.writing.Unlock()
	e, bad := b.plan(call)
	if bad != nil {
		return nil
	}
	return e.facts()
}

// Happened reports whether a file has the content that an edit was to give it.
func (b *Box) Happened(_ context.Context, call agent.Call, foreseen map[string]string) (agent.Result, bool) {
	if foreseen["after"] == "" || call.Name != "write_file" && call.Name != "edit_file" {
		return agent.Result{}, false
	}
	data, err := b.jail.ReadFile(foreseen["path"], maxFile)
	if err != nil || hash(data) != foreseen["after"] {
		return agent.Result{}, false
	}
	r := done("changed %s", foreseen["path"])
	r.Paths, r.Facts = []string{foreseen["path"]}, foreseen
	return r, true
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
