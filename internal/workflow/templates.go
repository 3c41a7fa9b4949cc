package workflow

import (
	"embed"
	"fmt"
)

//go:embed templates
var embedded embed.FS

// Template is an embedded file, applied by name.
type Template struct {
	Key    string
	Source []byte
}

// Program is an embedded program source. Kind is flow or rounds; a step names it as Kind:Name.
type Program struct {
	Kind   string
	Name   string
	Source []byte
}

// Templates returns the embedded workflows in the order in which they are offered. They name only the embedded
// profiles and the person owner. The caller owns the bytes.
func Templates() []Template {
	return files("templates/%s.yaml", "kanban", "plan-build", "feature", "office-default", "coordination", "routine", "errand", "fix-bug", "report")
}

// Profiles returns the embedded agent profiles as documents of `agent apply`.
func Profiles() []Template {
	return files("templates/profiles/%s.yaml", "coder", "reviewer", "researcher", "fact_checker", "walker", "assistant")
}

// Programs returns the embedded programs that the templates name.
func Programs() []Program {
	flow, rounds := files("templates/programs/%s.star", "fix-bug"), files("templates/programs/%s.star", "report")
	return []Program{{"flow", flow[0].Key, flow[0].Source}, {"rounds", rounds[0].Key, rounds[0].Source}}
}

// TemplateSource returns the source of an embedded workflow, nil for any other name.
func TemplateSource(key string) []byte {
	for _, t := range Templates() {
		if t.Key == key {
			return t.Source
		}
	}
	return nil
}

func files(pattern string, keys ...string) []Template {
	out := make([]Template, len(keys))
	for i, k := range keys {
		source, err := embedded.ReadFile(fmt.Sprintf(pattern, k))
		if err != nil {
			panic(err) // the file is part of the binary; a test reads each one
		}
		out[i] = Template{k, source}
	}
	return out
}
