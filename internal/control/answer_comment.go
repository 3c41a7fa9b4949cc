package control

import (
	"github.com/fairlead/fairlead"
)

// reasonComment says in the record of a resolution that the person simply wrote to the task.
const reasonComment = "comment"

// answerByComment takes what a person writes to the locked task as the answer to its open budget gate, or to its only
// open question in free text, if the person may answer it. nil: the comment is only a comment, as it is whenever it is
// not clear which question it would answer.
func (w *work) answerByComment(text string) (*fairlead.Request, error) {
	if w.meta.Actor.Kind != fairlead.ActorPerson {
		return nil, nil
	}
	open, err := w.tx.OpenRequests(w.task.row.ID)
	if err != nil {
		return nil, err
	}
	q := answerable(open, w.meta.Actor)
	if q == nil || w.mayResolve(q) != nil {
		return nil, nil //nolint:nilerr // who may not answer has written a comment
	}
	a := fairlead.Answer{Text: text}
	if _, err := checkAnswer(q, a); err != nil {
		return nil, nil //nolint:nilerr // what is no answer is a comment
	}
	resolved, err := w.resolve(*q, fairlead.RequestAnswered, &a, reasonComment)
	return &resolved, err
}

// answerable finds the request that a message of the actor answers.
func answerable(open []fairlead.Request, by fairlead.Actor) *fairlead.Request {
	var question *fairlead.Request
	for i := range open {
		q := &open[i]
		switch {
		case !q.MayResolve(by):
		case q.Kind == fairlead.RequestBudgetGate:
			return q
		case q.Kind != fairlead.RequestQuestion:
		case question != nil:
			return nil
		default:
			question = q
		}
	}
	return question
}
