package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead/internal/agent"
)

const (
	maxFile    = 10 << 20 // bytes of a file that is read or edited
	maxEntries = 2000     // names in a list
)

func (b *Box) readFile() tool {
	return tool{
		spec: agent.ToolSpec{
			Name: "read_file", Effect: agent.EffectRead, Touches: []string{agent.TouchFiles},
			Description: "Reads a text file of the workspace. Long files come with their middle left out; read a part with offset and limit.",
			Schema: json.RawMessage(`{"type":"object","properties":{
				"path":{"type":"string","minLength":1,"description":"relative to the workspace"},
				"offset":{"type":"integer","minimum":1,"description":"first line, from 1"},
				"limit":{"type":"integer","minimum":1,"description":"number of lines"}},
				"required":["path"],"additionalProperties":false}`),
		},
		run: func(_ context.Context, call agent.Call) agent.Result {
			in, bad := args[struct {
				Path          string
				Offset, Limit int
			}](call)
			if bad != nil {
				return *bad
			}
			data, err := b.jail.ReadFile(in.Path, maxFile)
			if err != nil {
				return refusal(err)
			}
			if binary(data) {
				return agent.Result{Outcome: agent.OutcomeError, Text: "the file is not text"}
			}
			r := done("%s", lines(string(data), in.Offset, in.Limit))
			r.Paths, r.Facts = []string{in.Path}, map[string]string{"hash": hash(data)}
			return r
		},
	}
}

// lines returns limit lines from the offset-th on; zero values mean all.
func lines(s string, offset, limit int) string {
	if offset <= 1 && limit == 0 {
		return s
	}
	all := strings.SplitAfter(s, "\n")
	all = all[min(max(0, offset-1), len(all)):]
	if limit > 0 && limit < len(all) {
		all = all[:limit]
	}
	return strings.Join(all, "")
}

// binary guesses by the beginning, as grep does.
func binary(data []byte) bool {
	head := data[:min(len(data), 8000)]
	return strings.IndexByte(string(head), 0) >= 0 || len(head) == len(data) && !utf8.Valid(data)
}

func (b *Box) listFiles() tool {
	return tool{
		spec: agent.ToolSpec{
			Name: "list_files", Effect: agent.EffectRead, Touches: []string{agent.TouchFiles},
			Description: "Lists files below a directory of the workspace, without the git directory and node_modules. A pattern is matched against the name, or against the path when it has a slash.",
			Schema: json.RawMessage(`{"type":"object","properties":{
				"path":{"type":"string","description":"directory, default the workspace"},
				"pattern":{"type":"string","description":"glob such as *.go"},
				"depth":{"type":"integer","minimum":1,"description":"levels, default all"}},
				"additionalProperties":false}`),
		},
		run: func(ctx context.Context, call agent.Call) agent.Result {
			in, bad := args[struct {
				Path, Pattern string
				Depth         int
			}](call)
			if bad != nil {
				return *bad
			}
			if _, err := path.Match(in.Pattern, ""); err != nil {
				return agent.Result{Outcome: agent.OutcomeError, Text: "the pattern is malformed"}
			}
			var out []string
			more := false
			err := b.walk(ctx, in.Path, in.Depth, func(name string, dir bool) bool {
				if dir || !globbed(in.Pattern, name) {
					return true
				}
				if len(out) == maxEntries {
					more = true
					return false
				}
				out = append(out, name)
				return true
			})
			if err != nil {
				return refusal(err)
			}
			if more {
				out = append(out, fmt.Sprintf("… more than %d files; name a directory or a pattern", maxEntries))
			}
			if len(out) == 0 {
				return done("no files")
			}
			return done("%s", strings.Join(out, "\n"))
		},
	}
}

func globbed(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	if !strings.Contains(pattern, "/") {
		name = path.Base(name)
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// walk visits what lies below a directory of the workspace in the order of names, until visit says no. It follows no
// links.
func (b *Box) walk(ctx context.Context, dir string, depth int, visit func(name string, dir bool) bool) error {
	if dir == "" {
		dir = "."
	}
	root, err := b.jail.Clean(dir)
	if err != nil {
		return err
	}
	if _, err := b.jail.Stat(root); err != nil {
		return err
	}
	base := strings.Count(root, "/")
	if root == "." {
		base = -1
	}
	return fs.WalkDir(b.jail.FS(), root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return nil // a directory that cannot be read is not listed
		case name == root && d.IsDir():
			return nil
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"), d.Name() == ".git":
			return skip(d)
		case depth > 0 && strings.Count(name, "/")-base > depth:
			return skip(d)
		case !visit(name, d.IsDir()):
			return fs.SkipAll
		}
		return nil
	})
}

func skip(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}
