package api

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/client"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

// Two hundred moves, triggers, comments and decisions on one task at once, each sent twice under its operation: every
// one takes effect at most once, and the journal tells how the task came to stand where it stands.
func TestStormOnOneTask(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c, _ := realHouse(t, db)
		task, err := c.CreateTask(t.Context(), fairlead.NewTask{Title: "storm"})
		if err != nil {
			t.Fatal(err)
		}
		const commands = 200
		answers := make([]answered, 2*commands)
		limit := make(chan struct{}, 16)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() {
				limit <- struct{}{}
				answers[i] = command(t, c, task.ID, i/2)
				<-limit
			})
		}
		wg.Wait()
		moves := 0
		for i := 0; i < len(answers); i += 2 {
			one, other := answers[i], answers[i+1]
			// A refusal leaves nothing behind, so the same command may be taken a moment later; but it is taken once.
			if one.Code == "" && other.Code == "" {
				if diff := cmp.Diff(one, other); diff != "" {
					t.Errorf("command %d has two answers: %s", i/2, diff)
				}
			}
			for _, a := range []answered{one, other} {
				if a.Code == fairlead.CodeInternal || a.Code == fairlead.CodeUnavailable || a.Code == fairlead.CodeOpReused {
					t.Errorf("command %d: %s", i/2, a.Code)
				}
			}
			if one.Moved || other.Moved {
				moves++
			}
		}
		replay(t, c, task.ID, moves)
	})
}

// answered is what a caller learns of a command.
type answered struct {
	Code  fairlead.Code
	Moved bool
	Visit int
}

func command(t *testing.T, c *client.Client, task string, i int) answered {
	op := fairlead.OpID(fmt.Sprint("storm-", i))
	var out fairlead.Outcome
	var err error
	switch i % 4 {
	case 0:
		out, err = c.Move(t.Context(), task, fairlead.MoveBody{Step: []string{"review", "backlog", "done"}[i%3], Op: op})
	case 1:
		out, err = c.Trigger(t.Context(), task, fairlead.TriggerBody{Kind: "manual", Key: "accept", Op: op}, false)
	case 2:
		out, err = c.Decide(t.Context(), task, fairlead.DecisionBody{Verdict: "approve", Op: op})
	default:
		_, err = c.Comment(t.Context(), task, fairlead.CommentBody{Text: fmt.Sprint("comment ", i), Op: op})
	}
	return answered{fairlead.ErrorCode(err), out.Moved, out.Visit}
}

// replay walks the journal from its beginning and compares where it ends with where the task stands.
func replay(t *testing.T, c *client.Client, id string, moves int) {
	t.Helper()
	var last int64
	step, visit, entries := "", 0, 0
	for {
		p, err := c.Journal(t.Context(), id, last, 200)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range p.Items {
			if r.Seq != last+1 {
				t.Fatalf("record %d follows %d", r.Seq, last)
			}
			last = r.Seq
			if r.Kind != fairlead.RecordMoved {
				continue
			}
			var data struct {
				To string `json:"to"`
			}
			if err := json.Unmarshal(r.Data, &data); err != nil {
				t.Fatal(err)
			}
			step, visit, entries = data.To, r.Visit, entries+1
		}
		if len(p.Items) == 0 {
			break
		}
	}
	now, err := c.GetTask(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if now.Step != step || now.Visit != visit {
		t.Errorf("the task stands at %s in visit %d, its journal ends at %s in visit %d", now.Step, now.Visit, step, visit)
	}
	if entries != moves+1 {
		t.Errorf("%d entries, want one and %d moves", entries, moves)
	}
	if moves == 0 {
		t.Error("nothing moved")
	}
}
