package control

import (
	"context"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

// maxText bounds what people and agents write at once, in bytes.
const maxText = 64 << 10

// Comment adds a message to a task and fires the comment trigger.
func (c *Control) Comment(ctx context.Context, m Meta, ref string, body fairlead.CommentBody) (fairlead.CommentView, error) {
	return onTask(ctx, c, m, "comment", ref, body, func(w *work) (fairlead.CommentView, error) {
		if err := w.mayTouch(); err != nil {
			return fairlead.CommentView{}, err
		}
		if strings.TrimSpace(body.Text) == "" {
			return fairlead.CommentView{}, invalidField("text", "the comment is empty", "write something")
		}
		if len(body.Text) > maxText {
			return fairlead.CommentView{}, invalidField("text", "the comment is too long", "use at most 64 KiB")
		}
		comment, err := w.addComment(w.meta.Actor, body.Text)
		if err != nil {
			return fairlead.CommentView{}, err
		}
		_, err = w.decide(engine.Trigger{Kind: fairlead.TriggerComment, Payload: map[string]any{
			"comment_id": comment.ID, "author": comment.Author.String(), "text": comment.Text,
		}})
		if err != nil {
			return fairlead.CommentView{}, err
		}
		return fairlead.CommentView{
			ID: comment.ID, Task: comment.Task, Author: comment.Author, Text: comment.Text, Seq: comment.Seq, At: fairlead.StampOf(comment.At),
		}, nil
	})
}

// addComment writes a comment without firing anything.
func (w *work) addComment(by fairlead.Actor, text string) (fairlead.Comment, error) {
	t := &w.task.row.Task
	c := fairlead.Comment{ID: w.id(fairlead.PrefixComment), Task: t.ID, Visit: t.Visit, Author: by, Text: text, At: w.now}
	c.Seq = w.record(fairlead.Record{Kind: fairlead.RecordComment, Actor: by, Run: by.Run}, map[string]any{"comment": c.ID, "text": text})
	if err := w.tx.InsertComment(c); err != nil {
		return c, err
	}
	w.emit(fairlead.Event{
		Kind: fairlead.EventCommentAdded, Task: t.ID, Visit: t.Visit, Actor: by, Data: marshal(map[string]any{"comment": c.ID, "text": text}),
	})
	return c, nil
}
