package e2e

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
)

// ack is a command with its acknowledged result.
type ack struct {
	Method, Path, Body string
	Status             int
	Answer             string
}

// ackLog is what clients know to be done. Each line is on disk before the next command is sent.
type ackLog struct {
	mu    sync.Mutex
	file  *os.File
	all   []ack
	tasks []string
	count int
}

func openLog(t *testing.T, path string) *ackLog {
	t.Helper()
	f := must(os.Create(path))(t)
	t.Cleanup(func() { _ = f.Close() }) // synced line by line
	return &ackLog{file: f}
}

func (l *ackLog) op() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.count++
	return fmt.Sprintf("crash-%d", l.count)
}

// next is a command on a task that is known to exist, or a new task.
func (l *ackLog) next(random *rand.Rand) call {
	op := l.op()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.tasks) == 0 || random.IntN(8) == 0 {
		return call{method: "POST", path: "/api/v1/tasks", body: fmt.Sprintf(`{"title":"task %s","workflow":"crash","op":%q}`, op, op)}
	}
	of := "/api/v1/tasks/" + l.tasks[len(l.tasks)-1-random.IntN(min(len(l.tasks), 20))]
	switch random.IntN(6) {
	case 0:
		return call{method: "POST", path: of + "/move", body: fmt.Sprintf(`{"step":"work","op":%q}`, op)}
	case 1:
		return call{method: "POST", path: of + "/triggers", body: fmt.Sprintf(`{"kind":"manual","key":"mark","op":%q}`, op)}
	case 2:
		return call{method: "POST", path: of + "/decisions", body: fmt.Sprintf(`{"verdict":"reject","note":"again","op":%q}`, op)}
	}
	return call{method: "POST", path: of + "/comments", body: fmt.Sprintf(`{"text":"comment %s","op":%q}`, op, op)}
}

func (l *ackLog) write(a ack) {
	line, err := json.Marshal(a)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		panic(err)
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		panic(err)
	}
	if err := l.file.Sync(); err != nil {
		panic(err)
	}
	l.all = append(l.all, a)
	if a.Path == "/api/v1/tasks" {
		var t struct{ ID string }
		if json.Unmarshal([]byte(a.Answer), &t) == nil {
			l.tasks = append(l.tasks, t.ID)
		}
	}
}

// check sends every acknowledged command again under its operation id: the same result, whatever happened since.
func (l *ackLog) check(t *testing.T, s *server) {
	t.Helper()
	wrong := 0
	for _, a := range l.all {
		again := s.raw(call{method: a.Method, path: a.Path, body: a.Body})
		if again.status == a.Status && compact(again.body) == compact(a.Answer) {
			continue
		}
		if wrong++; wrong <= 5 {
			t.Errorf("%s %s %s: acknowledged %d %s, now %d %s", a.Method, a.Path, a.Body, a.Status, cut(a.Answer), again.status, cut(again.body))
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d acknowledged commands have another result now", wrong, len(l.all))
	}
	for _, id := range l.tasks {
		if _, err := s.client.GetTask(t.Context(), id); err != nil {
			t.Errorf("an acknowledged task is gone: %v", err)
		}
	}
}

func compact(s string) string {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return s
	}
	return string(b)
}
