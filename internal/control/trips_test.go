package control

import (
	"strings"
	"sync"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// trips counts round trips to Postgres.
type trips struct {
	mu   sync.Mutex
	made []string
}

func (c *trips) tell(statements []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made = append(c.made, strings.Join(statements, " "))
}

func (c *trips) take() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	made := c.made
	c.made = nil
	return made
}

// TestRoundTripsToPostgres keeps what a command costs on Postgres: a round trip takes longer than most statements, and
// one more of them is easily added without anybody noticing.
func TestRoundTripsToPostgres(t *testing.T) {
	t.Parallel()
	var c trips
	db := storetest.Postgres(t).Open(t, &store.Options{Trips: c.tell})
	f := newFloor(t, db)
	ctx := t.Context()
	var task fairlead.TaskView
	var j *job
	// The first task finds nothing cached.
	_, err := f.c.CreateTask(ctx, owner(), fairlead.NewTask{Title: "first", Workflow: "solo"})
	f.must(err)
	steps := []struct {
		name string
		most int
		do   func() error
	}{
		{"create a task", 8, func() (err error) {
			task, err = f.c.CreateTask(ctx, owner(), fairlead.NewTask{Title: "a", Workflow: "stay"})
			return err
		}},
		{"claim", 4, func() error { j = f.claimed(); return nil }},
		{"start a turn", 3, func() error { j.start(); return nil }},
		{"report a message", 2, func() error { j.says("hello"); return nil }},
		{"end a turn", 3, func() error { j.done(); return nil }},
		{"comment", 3, func() error {
			_, err := f.c.Comment(ctx, owner(), task.ID, fairlead.CommentBody{Text: "more"})
			return err
		}},
		{"claim again", 10, func() error { j = f.claimed(); j.start(); j.done(); return nil }},
		{"launch", 5, func() error {
			f.hire(1)
			_, err := f.start(task.ID, fairlead.StartBody{Message: "now"})
			return err
		}},
		{"finish", 6, func() error { j = &job{Claimed: f.hands.launched[0], f: f}; j.start(); j.done(); return nil }},
		{"claim nothing", 2, func() error { f.nothing(); return nil }},
		{"move", 4, func() error {
			_, err := f.c.Move(ctx, owner(), task.ID, fairlead.MoveBody{Step: "other"})
			return err
		}},
		{"move back", 5, func() error {
			_, err := f.c.Move(ctx, owner(), task.ID, fairlead.MoveBody{Step: "work"})
			return err
		}},
		{"show a task", 6, func() error { _, err := f.c.GetTask(ctx, mainWorkspace, task.ID); return err }},
	}
	c.take()
	for _, s := range steps {
		f.must(s.do())
		if made := c.take(); len(made) > s.most {
			t.Errorf("%s: %d round trips, at most %d:\n  %s", s.name, len(made), s.most, strings.Join(made, "\n  "))
		}
	}
}
