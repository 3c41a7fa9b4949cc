package control

import (
	"context"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
)

const (
	// questionsOpen is how many questions of one assignment may be open at once.
	questionsOpen = 4
	promptBytes   = 16 << 10
	optionsMost   = 50
)

// Ask opens a question of an agent to people. The actor is the agent with its assignment and run, proved by the fence.
// What the primary asks blocks the task; what anybody else asks blocks that assignment alone. It is answerable at once
// and survives everything; the asker's turn ends parked, and a completion or move it declared in this turn is void.
func (c *Control) Ask(ctx context.Context, m Meta, body fairlead.AskBody) (fairlead.RequestView, error) {
	cmd := command{name: "ask person", run: m.Actor.Run, body: body}
	var assignment fairlead.Assignment
	err := c.db.Read(ctx, func(tx *storeReadTx) (err error) {
		if m.Actor.Kind != fairlead.ActorAgent || m.Actor.Assignment == "" {
			return fairlead.Errorf(fairlead.CodeForbidden, "only an agent at work asks this way").WithHint("people write a comment")
		}
		assignment, err = tx.LoadAssignment(m.Actor.Assignment)
		return err
	})
	if err != nil {
		return fairlead.RequestView{}, c.refused(ctx, m, cmd, err)
	}
	cmd.task = assignment.Task
	return do(ctx, c, m, cmd, func(w *work) (fairlead.RequestView, error) {
		q, err := w.question(body)
		if err != nil {
			return fairlead.RequestView{}, err
		}
		if err := w.openRequest(q); err != nil {
			return fairlead.RequestView{}, err
		}
		if q, err = w.tx.LoadRequest(q.ID); err != nil {
			return fairlead.RequestView{}, err
		}
		return read.RequestView(&w.tx.ReadTx, q)
	})
}

// question checks what is asked and who asks.
func (w *work) question(b fairlead.AskBody) (fairlead.Request, error) {
	none := fairlead.Request{}
	if err := w.fenced(); err != nil {
		return none, err
	}
	a, err := w.tx.LoadAssignment(w.meta.Actor.Assignment)
	if err != nil {
		return none, err
	}
	if a.State == fairlead.AssignmentEnded || a.Visit != w.task.row.Visit {
		return none, fairlead.Conflict(fairlead.ReasonVisitEnded, "the visit of this work is over").WithHint("end your turn")
	}
	open, err := w.tx.OpenRequests(a.Task)
	if err != nil {
		return none, err
	}
	if openOf(open, a.ID) >= questionsOpen {
		return none, fairlead.Errorf(fairlead.CodeRefused, "%d questions of yours are open", questionsOpen).
			WithHint("end your turn: the answers come with your next prompt")
	}
	if b.Kind, err = checkQuestion(b); err != nil {
		return none, err
	}
	if err := w.peopleExist(b.Of); err != nil {
		return none, err
	}
	q := fairlead.Request{
		ID: w.id(fairlead.PrefixRequest), Kind: b.Kind, Visit: a.Visit, Assignment: a.ID, Run: w.meta.Actor.Run, Prompt: b.Prompt,
		Schema: b.Schema, Options: b.Options, Blocks: fairlead.BlocksAssignment, AskedOf: b.Of, OpenedBy: w.meta.Actor,
	}
	if a.Capacity == fairlead.CapacityPrimary {
		q.Blocks = fairlead.BlocksTask
	}
	return q, nil
}

// checkQuestion returns the kind of a question that can be answered.
func checkQuestion(b fairlead.AskBody) (fairlead.RequestKind, error) {
	kind := b.Kind
	if kind == "" {
		switch {
		case len(b.Options) > 0:
			kind = fairlead.RequestChoice
		case len(b.Schema) > 0:
			kind = fairlead.RequestForm
		default:
			kind = fairlead.RequestQuestion
		}
	}
	switch {
	case strings.TrimSpace(b.Prompt) == "":
		return kind, invalidField("prompt", "the question is empty", "say what you need to know")
	case len(b.Prompt) > promptBytes:
		return kind, invalidField("prompt", "the question is too long", "use at most 16 KiB")
	case len(b.Options) > 0 && kind != fairlead.RequestChoice:
		return kind, invalidField("options", "only a choice has options", "use kind choice")
	case len(b.Schema) > 0 && kind != fairlead.RequestForm:
		return kind, invalidField("schema", "only a form has a schema", "use kind form")
	}
	switch kind {
	case fairlead.RequestQuestion:
		return kind, nil
	case fairlead.RequestChoice:
		return kind, checkOptions(b.Options)
	case fairlead.RequestForm:
		_, err := compileForm(b.Schema)
		return kind, err
	}
	return kind, invalidField("kind", "no such kind of question", "use question, choice or form")
}

func checkOptions(options []fairlead.Option) error {
	if len(options) < 2 || len(options) > optionsMost {
		return invalidField("options", "a choice needs options", "offer 2 to 50 of them")
	}
	seen := make(map[string]bool, len(options))
	for i, o := range options {
		path := fmt.Sprintf("options[%d]", i)
		switch {
		case o.ID == "" || len(o.ID) > 100:
			return invalidField(path+".id", "not an id", "use 1 to 100 characters")
		case seen[o.ID]:
			return invalidField(path+".id", "the same id twice", "give every option an id of its own")
		case len(o.Label) > 1000:
			return invalidField(path+".label", "the label is too long", "use at most 1,000 bytes")
		}
		seen[o.ID] = true
	}
	return nil
}

// peopleExist refuses to ask somebody who is not there: nobody could answer.
func (w *work) peopleExist(of []string) error {
	f, err := w.facts()
	if err != nil {
		return err
	}
	for i, name := range of {
		key, ok := strings.CutPrefix(name, string(fairlead.ActorPerson)+":")
		if !ok || !f.People[key] {
			return invalidField(fmt.Sprintf("of[%d]", i), "no such person", "write person:KEY of a person of this workspace, or leave it out")
		}
	}
	return nil
}
