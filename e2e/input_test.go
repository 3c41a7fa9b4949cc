package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
)

// Every malformed thing gets a clear 4xx with code and hint, and nothing whatever is stored: a dump of the database is
// the same afterwards.
func TestBadInputIsRefusedAndStoresNothing(t *testing.T) {
	t.Parallel()
	databases(t, func(t *testing.T, db string) {
		s := start(t, options{db: db})
		s.save(kanban)
		task := s.task("plain")
		before := s.dump(db)
		for _, tc := range badInputs(task) {
			t.Run(tc.name, func(t *testing.T) { s.refused(t, tc.call, tc.status, tc.code) })
		}
		if diff := rowsChanged(before, s.dump(db)); diff != "" {
			t.Errorf("refused requests changed rows:\n%s", diff)
		}
		if text := s.log.String(); strings.Contains(text, marker) {
			t.Error("the log holds what was sent")
		}
		if a := s.raw(call{method: "GET", path: "/readyz", token: "-"}); a.status != http.StatusOK {
			t.Errorf("afterwards the server is not ready: %s", a.body)
		}
	})
}

// kanban is the plainest workflow: three steps and nothing that happens by itself.
const kanban = "workflow: plain\nstart: a\nsteps:\n  - {key: a, on: {manual: {go: [{move: {to: b}}]}}}\n  - {key: b}\n  - {key: z, terminal: done}\n"

// rowsChanged names the lines by which two dumps differ. Refusals of commands leave an audit row each; that is their
// only trace.
func rowsChanged(before, after string) string {
	if before == after {
		return ""
	}
	old := map[string]bool{}
	for line := range strings.Lines(before) {
		old[line] = true
	}
	var out strings.Builder
	audit := false
	for line := range strings.Lines(after) {
		if strings.HasPrefix(line, "# ") {
			audit = strings.HasPrefix(line, "# audit ")
			continue
		}
		if !old[line] && !audit {
			out.WriteString(line)
		}
		delete(old, line)
	}
	for line := range old {
		if !strings.HasPrefix(line, "# ") {
			out.WriteString("gone: " + line)
		}
	}
	return out.String()
}

type badInput struct {
	name   string
	call   call
	status int
	code   string
}

func badInputs(task fairlead.TaskView) []badInput {
	tasks, one := "/api/v1/tasks", "/api/v1/tasks/"+task.ID
	post := func(path, body string) call { return call{method: "POST", path: path, body: body} }
	workflow := func(source string) call {
		return post("/api/v1/workflows", fmt.Sprintf(`{"source":%q}`, source))
	}
	big := strings.Repeat("x", 10<<20)
	return []badInput{
		{"no JSON", post(tasks, `{"title": `+marker), 400, "invalid"},
		{"a list", post(tasks, `["`+marker+`"]`), 422, "invalid"},
		{"two values", post(tasks, `{"title":"a"} {"title":"`+marker+`"}`), 400, "invalid"},
		{"unknown key", post(tasks, `{"title":"a","colour":"`+marker+`"}`), 422, "invalid"},
		{"wrong type", post(tasks, `{"title":7}`), 422, "invalid"},
		{"wrong type within", post(tasks, `{"title":"a","labels":["b",{"c":"`+marker+`"}]}`), 422, "invalid"},
		{"missing title", post(tasks, `{}`), 422, "invalid"},
		{"duplicate key", post(tasks, `{"title":"a","title":"`+marker+`"}`), 400, "invalid"},
		{"duplicate key in another case", post(tasks, `{"title":"a","Title":"`+marker+`"}`), 400, "invalid"},
		{"duplicate key within", post(tasks, `{"title":"a","metadata":{"k":1,"k":"`+marker+`"}}`), 400, "invalid"},
		{"invalid UTF-8", post(tasks, "{\"title\":\""+marker+"\xff\xfe\"}"), 400, "invalid"},
		{"NUL", post(tasks, "{\"title\":\"a\x00\"}"), 400, "invalid"},
		{"escaped NUL", post(tasks, `{"title":"`+marker+`\u0000"}`), 400, "invalid"},
		{"10 MB", post(tasks, `{"title":"`+big+`"}`), 413, "too_large"},
		{"10 MB of spaces", post(tasks, `{"title":"a"}`+strings.Repeat(" ", 10<<20)), 413, "too_large"},
		{"text/plain", call{method: "POST", path: tasks, body: `{"title":"` + marker + `"}`, kind: "text/plain"}, 415, "media_type"},
		{"a form", call{method: "POST", path: tasks, body: "title=" + marker, kind: "application/x-www-form-urlencoded"}, 415, "media_type"},
		{"unknown workflow", post(tasks, `{"title":"a","workflow":"nowhere"}`), 422, "invalid"},
		{"a workflow that is a path", post(tasks, `{"title":"a","workflow":"../plain"}`), 422, "invalid"},
		{"unknown step", post(tasks, `{"title":"a","workflow":"plain","step":"nowhere"}`), 422, "invalid"},
		{"unknown id", call{method: "GET", path: tasks + "/tsk_nothing"}, 404, "not_found"},
		{"an id that is a path", call{method: "GET", path: tasks + "/..%2F..%2Fetc%2Fpasswd"}, 404, "not_found"},
		{"dot segments", call{method: "GET", path: tasks + "/%2e%2e/agents"}, 404, "not_found"},
		{"unknown path", call{method: "GET", path: "/api/v1/nothing"}, 404, "not_found"},
		{"unknown method", call{method: "PUT", path: tasks, body: "{}"}, 405, "method"},
		{"bad cursor", call{method: "GET", path: tasks + "?cursor=" + marker}, 422, "invalid"},
		{"bad limit", call{method: "GET", path: tasks + "?limit=1000"}, 422, "invalid"},
		{"a limit that is no number", call{method: "GET", path: tasks + "?limit=many"}, 422, "invalid"},
		{"bad state", call{method: "GET", path: tasks + "?state=" + marker}, 422, "invalid"},
		{"unknown workspace", call{method: "GET", path: tasks + "?workspace=nowhere"}, 404, "not_found"},
		{"broken query", call{method: "GET", path: tasks + "?q=%zz"}, 400, "invalid"},
		{"a query of no text", call{method: "GET", path: tasks + "?q=%ff"}, 400, "invalid"},
		{"stale version", call{method: "PATCH", path: one, body: `{"title":"b"}`, header: map[string]string{"If-Match": `"999"`}}, 412, "stale"},
		{"a version that is none", call{method: "PATCH", path: one, body: `{"title":"b"}`, header: map[string]string{"If-Match": marker}}, 412, "stale"},
		{"stale visit", post(one+"/move", `{"step":"b","expected_visit":9}`), 409, "conflict"},
		{"move nowhere", post(one+"/move", `{"step":"nowhere"}`), 422, "invalid"},
		{"two operation ids", call{method: "POST", path: one + "/comments", body: `{"text":"a","op":"x"}`, header: map[string]string{"Idempotency-Key": "y"}}, 400, "invalid"},
		{"an operation id that is none", post(one+"/comments", `{"text":"a","op":"a b"}`), 422, "invalid"},
		{"empty comment", post(one+"/comments", `{"text":""}`), 422, "invalid"},
		{"unknown trigger", post(one+"/triggers", `{"kind":"nothing"}`), 422, "invalid"},
		{"a trigger that is not for people", post(one+"/triggers", `{"kind":"turn_complete"}`), 422, "refused"},
		{"unknown verdict", post(one+"/decisions", `{"verdict":"perhaps"}`), 422, "invalid"},
		{"unknown request", post("/api/v1/requests/req_nothing/answer", `{"text":"a"}`), 404, "not_found"},
		{"unknown run", call{method: "GET", path: "/api/v1/runs/run_nothing"}, 404, "not_found"},
		{"unknown agent", call{method: "GET", path: "/api/v1/agents/nobody"}, 404, "not_found"},
		{"an agent that is a path", call{method: "GET", path: "/api/v1/agents/a%2Fb"}, 422, "invalid"},
		{"a person that is a path", post("/api/v1/people", `{"key":"../ann"}`), 422, "invalid"},
		{"a workspace that is a path", post("/api/v1/workspaces", `{"key":"a/b"}`), 422, "invalid"},
		{"unknown topic", call{method: "GET", path: "/api/v1/events?topics=" + marker}, 422, "invalid"},
		{"malformed YAML", workflow("workflow: [x"), 422, "invalid"},
		{"unknown key in YAML", workflow(kanban + "colour: red\n"), 422, "invalid"},
		{"wrong type in YAML", workflow("workflow: x\nsteps: 7\n"), 422, "invalid"},
		{"duplicate key in YAML", workflow("workflow: x\nworkflow: y\nsteps: []\n"), 422, "invalid"},
		{"an alias bomb in YAML", workflow(bomb()), 422, "invalid"},
		{"a name that is a path in YAML", workflow(strings.Replace(kanban, "workflow: plain", "workflow: ../plain", 1)), 422, "invalid"},
		{"no YAML of an agent", post("/api/v1/agents", `{"source":"agent: [x"}`), 422, "invalid"},
		{"unknown key of an agent", post("/api/v1/agents", `{"source":"agent: x\nadapter: script\ncolour: red\n"}`), 422, "invalid"},
	}
}

// bomb grows exponentially for a reader that expands aliases.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x]\n")
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i-1, i-1)
	}
	return b.String()
}

// Lint errors come with their place, so that an editor can show them.
func TestE6_SaveNamesLineAndColumn(t *testing.T) {
	t.Parallel()
	s := start(t, options{})
	p := s.refused(t, call{method: "POST", path: "/api/v1/workflows", body: `{"source":"workflow: x\nstart: a\nsteps:\n  - key: a\n    on: {enter: [{moev: {to: a}}]}\n"}`}, 422, "invalid")
	if len(p.Errors) == 0 || p.Errors[0].Line != 5 || p.Errors[0].Column == 0 || p.Errors[0].Message == "" {
		t.Errorf("got %+v", p.Errors)
	}
	wants(t, "get what was refused", func() error { _, err := s.client.GetWorkflow(t.Context(), "x"); return err }(), fairlead.CodeNotFound)
}
