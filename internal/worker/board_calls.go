package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/control"
)

func hintOf(err error) string {
	var e *fairlead.Error
	if errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

func (b *boardTools) complete(ctx context.Context, m control.Meta, call agent.Call) (string, error) {
	args, err := decode[struct {
		Summary string `json:"summary"`
	}](call)
	if err != nil {
		return "", err
	}
	if _, err := b.board.StepComplete(ctx, m, args.Summary); err != nil {
		return "", err
	}
	return "Recorded: your work at this step is complete. End your turn now.", nil
}

func (b *boardTools) decide(ctx context.Context, m control.Meta, call agent.Call) (string, error) {
	args, err := decode[fairlead.DecisionBody](call)
	if err != nil {
		return "", err
	}
	args.Op = ""
	if _, err := b.board.Decide(ctx, m, b.who.Task, args); err != nil {
		return "", err
	}
	return "Recorded: " + args.Verdict + ".", nil
}

// ask opens one request for each question of the call; each has an operation of its own.
func (b *boardTools) ask(ctx context.Context, m control.Meta, call agent.Call) (string, error) {
	args, err := decode[struct {
		Questions []fairlead.AskBody `json:"questions"`
	}](call)
	if err != nil {
		return "", err
	}
	var ids []string
	for i, q := range args.Questions {
		each := m
		each.Op = fairlead.DerivedOp(string(m.Op), strconv.Itoa(i))
		if q.Kind == "" && len(q.Options) > 0 {
			q.Kind = fairlead.RequestChoice
		}
		r, err := b.board.Ask(ctx, each, q)
		if err != nil {
			return "", err
		}
		ids = append(ids, r.ID)
	}
	return "Asked (" + strings.Join(ids, ", ") + "). End your turn now; the answer starts the next one.", nil
}

func (b *boardTools) comment(ctx context.Context, m control.Meta, call agent.Call) (string, error) {
	args, err := decode[struct {
		Task string `json:"task"`
		Text string `json:"text"`
	}](call)
	if err != nil {
		return "", err
	}
	if args.Task == "" {
		args.Task = b.who.Task
	}
	c, err := b.board.Comment(ctx, m, args.Task, fairlead.CommentBody{Text: args.Text})
	if err != nil {
		return "", err
	}
	return "Comment " + c.ID + " added.", nil
}

func (b *boardTools) move(ctx context.Context, m control.Meta, call agent.Call) (string, error) {
	args, err := decode[struct {
		Task string `json:"task"`
		Step string `json:"step"`
		Note string `json:"note"`
	}](call)
	if err != nil {
		return "", err
	}
	if args.Task == "" {
		args.Task = b.who.Task
	}
	out, err := b.board.Move(ctx, m, args.Task, fairlead.MoveBody{Step: args.Step, Note: args.Note})
	switch {
	case err != nil:
		return "", err
	case out.Moved:
		return "Moved to " + out.Step + ".", nil
	case out.Deferred:
		return "Noted: the move to " + args.Step + " is decided when your turn ends or what blocks the task is cleared.", nil
	}
	return "The task stays at " + out.Step + ".", nil
}

// create makes a child of the run's task.
func (b *boardTools) create(ctx context.Context, m control.Meta, call agent.Call) (string, error) {
	body, err := decode[fairlead.NewTask](call)
	if err != nil {
		return "", err
	}
	body.Op, body.Parent = "", b.who.Task
	t, err := b.board.CreateTask(ctx, m, body)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Created %s (%s) at %s of %s.", t.Identifier, t.ID, t.Step, t.Workflow), nil
}

func (b *boardTools) get(ctx context.Context, call agent.Call) (string, error) {
	args, err := decode[struct {
		Task string `json:"task"`
	}](call)
	if err != nil {
		return "", err
	}
	if args.Task == "" {
		args.Task = b.who.Task
	}
	t, err := b.board.GetTask(ctx, b.who.Workspace, args.Task)
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(t, "", "  ")
	return string(text), err
}
