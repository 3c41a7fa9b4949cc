package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fairlead/fairlead"
)

// Every ref of a task is its id or its identifier.

// CreateTask creates a task.
func (c *Client) CreateTask(ctx context.Context, in fairlead.NewTask) (fairlead.TaskView, error) {
	return post[fairlead.TaskView](ctx, c, path("tasks"), in, in.Op)
}

// ListTasks returns a page of tasks.
func (c *Client) ListTasks(ctx context.Context, q TaskQuery) (fairlead.Page[fairlead.TaskView], error) {
	return read[fairlead.Page[fairlead.TaskView]](ctx, c, path("tasks"), q.values())
}

// GetTask returns a task.
func (c *Client) GetTask(ctx context.Context, ref string) (fairlead.TaskView, error) {
	return read[fairlead.TaskView](ctx, c, path("tasks", ref), nil)
}

// UpdateTask changes fields of a task.
func (c *Client) UpdateTask(ctx context.Context, ref string, in fairlead.TaskPatch) (fairlead.TaskView, error) {
	return write[fairlead.TaskView](ctx, c, http.MethodPatch, path("tasks", ref), nil, in, in.Op)
}

// Move moves a task to a step.
func (c *Client) Move(ctx context.Context, ref string, in fairlead.MoveBody) (fairlead.Outcome, error) {
	return post[fairlead.Outcome](ctx, c, path("tasks", ref, "move"), in, in.Op)
}

// Trigger fires a trigger; with dryRun it changes nothing and tells what would happen.
func (c *Client) Trigger(ctx context.Context, ref string, in fairlead.TriggerBody, dryRun bool) (fairlead.Outcome, error) {
	q := url.Values{}
	if dryRun {
		q.Set("dry_run", "true")
	}
	return write[fairlead.Outcome](ctx, c, http.MethodPost, path("tasks", ref, "triggers"), q, in, in.Op)
}

// Repin moves a standing task to the newest version of its workflow.
func (c *Client) Repin(ctx context.Context, ref string, in fairlead.RepinBody) (fairlead.Outcome, error) {
	return post[fairlead.Outcome](ctx, c, path("tasks", ref, "repin"), in, in.Op)
}

// Archive archives a task.
func (c *Client) Archive(ctx context.Context, ref string, in fairlead.OpBody) (fairlead.TaskView, error) {
	return post[fairlead.TaskView](ctx, c, path("tasks", ref, "archive"), in, in.Op)
}

// Start starts an agent on a task now.
func (c *Client) Start(ctx context.Context, ref string, in fairlead.StartBody) (fairlead.StartResult, error) {
	return post[fairlead.StartResult](ctx, c, path("tasks", ref, "start"), in, in.Op)
}

// Stop stops the agents of a task.
func (c *Client) Stop(ctx context.Context, ref string, in fairlead.OpBody) (fairlead.TaskView, error) {
	return post[fairlead.TaskView](ctx, c, path("tasks", ref, "stop"), in, in.Op)
}

// Comment writes a comment.
func (c *Client) Comment(ctx context.Context, ref string, in fairlead.CommentBody) (fairlead.CommentView, error) {
	return post[fairlead.CommentView](ctx, c, path("tasks", ref, "comments"), in, in.Op)
}

// Decide records a verdict.
func (c *Client) Decide(ctx context.Context, ref string, in fairlead.DecisionBody) (fairlead.Outcome, error) {
	return post[fairlead.Outcome](ctx, c, path("tasks", ref, "decisions"), in, in.Op)
}

// AddParticipant adds a participant to a task.
func (c *Client) AddParticipant(ctx context.Context, ref string, in fairlead.ParticipantBody) (fairlead.TaskView, error) {
	return post[fairlead.TaskView](ctx, c, path("tasks", ref, "participants"), in, in.Op)
}

// RemoveParticipant removes a participant, or a seat of this visit, by its id.
func (c *Client) RemoveParticipant(ctx context.Context, ref, participant string, in fairlead.OpBody) (fairlead.TaskView, error) {
	return write[fairlead.TaskView](ctx, c, http.MethodDelete, path("tasks", ref, "participants", participant), nil, nil, in.Op)
}

// AddBlocker makes a task wait for another.
func (c *Client) AddBlocker(ctx context.Context, ref string, in fairlead.BlockerBody) (fairlead.TaskView, error) {
	return post[fairlead.TaskView](ctx, c, path("tasks", ref, "blockers"), in, in.Op)
}

// RemoveBlocker makes a task wait no longer for another.
func (c *Client) RemoveBlocker(ctx context.Context, ref, blocker string, in fairlead.OpBody) (fairlead.TaskView, error) {
	return write[fairlead.TaskView](ctx, c, http.MethodDelete, path("tasks", ref, "blockers", blocker), nil, nil, in.Op)
}

// Quorum explains what the decision at the task's step waits for.
func (c *Client) Quorum(ctx context.Context, ref string) ([]fairlead.QuorumView, error) {
	return items[fairlead.QuorumView](ctx, c, path("tasks", ref, "quorum"))
}

// Comments returns the comments of a task.
func (c *Client) Comments(ctx context.Context, ref string) ([]fairlead.CommentView, error) {
	return items[fairlead.CommentView](ctx, c, path("tasks", ref, "comments"))
}

// TaskRuns returns the runs of a task.
func (c *Client) TaskRuns(ctx context.Context, ref string) ([]fairlead.RunView, error) {
	return items[fairlead.RunView](ctx, c, path("tasks", ref, "runs"))
}

// Sessions returns the conversations about a task.
func (c *Client) Sessions(ctx context.Context, ref string) ([]fairlead.SessionView, error) {
	return items[fairlead.SessionView](ctx, c, path("tasks", ref, "sessions"))
}

// Transitions returns the way of a task so far.
func (c *Client) Transitions(ctx context.Context, ref string) ([]fairlead.TransitionView, error) {
	return items[fairlead.TransitionView](ctx, c, path("tasks", ref, "transitions"))
}

// Journal returns records of a task behind seq after, in order; limit 0 = 50.
func (c *Client) Journal(ctx context.Context, ref string, after int64, limit int) (fairlead.Page[fairlead.RecordView], error) {
	q := Page{Limit: limit}.values("after", strconv.FormatInt(after, 10))
	return read[fairlead.Page[fairlead.RecordView]](ctx, c, path("tasks", ref, "journal"), q)
}
