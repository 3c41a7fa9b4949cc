package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/control"
)

// Board is what the tools of an agent may do to the board; control implements it.
type Board interface {
	StepComplete(ctx context.Context, m control.Meta, summary string) (fairlead.Outcome, error)
	Decide(ctx context.Context, m control.Meta, ref string, body fairlead.DecisionBody) (fairlead.Outcome, error)
	Ask(ctx context.Context, m control.Meta, body fairlead.AskBody) (fairlead.RequestView, error)
	Comment(ctx context.Context, m control.Meta, ref string, body fairlead.CommentBody) (fairlead.CommentView, error)
	Move(ctx context.Context, m control.Meta, ref string, body fairlead.MoveBody) (fairlead.Outcome, error)
	CreateTask(ctx context.Context, m control.Meta, body fairlead.NewTask) (fairlead.TaskView, error)
	GetTask(ctx context.Context, workspace, ref string) (fairlead.TaskView, error)
}

// Authority is what a run's tools act with: its agent, its assignment, and the fence of its claim.
type Authority struct {
	Workspace string
	Task      string
	Actor     fairlead.Actor
	Fence     fairlead.Fence
	Palette   []string // names of the tools the agent may use; empty = all
}

// boardTools are the *_fairlead tools of one run.
type boardTools struct {
	board Board
	who   Authority
	check *agent.Checker
}

var _ agent.ToolBox = (*boardTools)(nil)

// NewBoardTools makes the tools by which an agent acts on the board with the authority of one run.
func NewBoardTools(board Board, who Authority) (agent.ToolBox, error) {
	check, err := agent.NewChecker(boardSpecs())
	if err != nil {
		return nil, fmt.Errorf("make board tools: %w", err)
	}
	return &boardTools{board: board, who: who, check: check}, nil
}

// Tools lists the tools.
func (b *boardTools) Tools() []agent.ToolSpec { return boardSpecs() }

// Call runs one tool. Its operation id comes from the call's own id, so that a repeat after an interruption is the
// same command.
func (b *boardTools) Call(ctx context.Context, call agent.Call) agent.Result {
	spec, refused := b.check.Check(call)
	if refused != nil {
		return *refused
	}
	meta := control.Meta{
		Workspace: b.who.Workspace, Actor: b.who.Actor, Fence: &b.who.Fence,
		Op: fairlead.DerivedOp("tool", call.Session, call.ID, call.Name),
	}
	answer, err := b.run(ctx, meta, call)
	if err != nil {
		return agent.Result{Outcome: agent.OutcomeError, Text: explain(err)}
	}
	out := agent.Result{Outcome: agent.OutcomeOK, Text: answer}
	if spec.Parks {
		out.Outcome = agent.OutcomeParked
	}
	return out
}

// explain says an error in words for a model: what is wrong and what to do.
func explain(err error) string {
	code := fairlead.ErrorCode(err)
	if code == fairlead.CodeInternal {
		return "the board could not do it: an internal error"
	}
	text := err.Error()
	if hint := hintOf(err); hint != "" {
		text += "\n" + hint
	}
	return string(code) + ": " + text
}

func decode[T any](call agent.Call) (v T, err error) {
	if len(call.Args) == 0 {
		return v, nil
	}
	if err := json.Unmarshal(call.Args, &v); err != nil {
		return v, fairlead.Errorf(fairlead.CodeInvalid, "the arguments do not fit")
	}
	return v, nil
}

func (b *boardTools) run(ctx context.Context, m control.Meta, call agent.Call) (string, error) {
	switch call.Name {
	case toolComplete:
		return b.complete(ctx, m, call)
	case toolDecide:
		return b.decide(ctx, m, call)
	case toolAsk:
		return b.ask(ctx, m, call)
	case toolComment:
		return b.comment(ctx, m, call)
	case toolMove:
		return b.move(ctx, m, call)
	case toolCreate:
		return b.create(ctx, m, call)
	case toolGet:
		return b.get(ctx, call)
	}
	return "", fairlead.Errorf(fairlead.CodeNotFound, "there is no tool of this name")
}
