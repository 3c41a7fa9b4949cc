package api

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"

	"github.com/fairlead/fairlead"
)

// problemType is the media type of every answer that is not a success.
const problemType = "application/problem+json"

// Problem is an error as the API writes it (RFC 9457). Facts a program can act on stand beside the members below.
type Problem struct {
	Type   string                `json:"type" doc:"A name for the kind of problem."`
	Title  string                `json:"title" doc:"The status in words."`
	Status int                   `json:"status" doc:"The HTTP status."`
	Code   fairlead.Code         `json:"code" doc:"What kind of failure this is, for programs."`
	Detail string                `json:"detail,omitempty" doc:"What went wrong, for people."`
	Hint   string                `json:"hint,omitempty" doc:"What to do about it."`
	Reason string                `json:"reason,omitempty" doc:"Why, for a conflict: visit_ended, round_closed, resolved, busy, held or exists."`
	Errors []fairlead.FieldError `json:"errors,omitempty" doc:"Places in what was sent."`
	Data   map[string]any        `json:"-"`
	_      struct{}              `additionalProperties:"true"`
}

// Error makes a Problem an error for the framework; it is never shown.
func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

// GetStatus tells the framework the status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType tells the framework the media type.
func (p *Problem) ContentType(string) string { return problemType }

// MarshalJSON writes the facts beside the members; a fact never hides a member.
func (p *Problem) MarshalJSON() ([]byte, error) {
	type plain Problem
	if len(p.Data) == 0 {
		return json.Marshal((*plain)(p))
	}
	members, err := json.Marshal((*plain)(p))
	if err != nil {
		return nil, err
	}
	all := maps.Clone(p.Data)
	if err := json.Unmarshal(members, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// statusOf maps every code once. A code that is not here is a fault of ours.
var statusOf = map[fairlead.Code]int{
	fairlead.CodeMalformed:       http.StatusBadRequest,
	fairlead.CodeUnauthenticated: http.StatusUnauthorized,
	fairlead.CodeForbidden:       http.StatusForbidden,
	fairlead.CodeNotFound:        http.StatusNotFound,
	fairlead.CodeMethod:          http.StatusMethodNotAllowed,
	fairlead.CodeConflict:        http.StatusConflict,
	fairlead.CodeStale:           http.StatusPreconditionFailed,
	fairlead.CodeTooLarge:        http.StatusRequestEntityTooLarge,
	fairlead.CodeMediaType:       http.StatusUnsupportedMediaType,
	fairlead.CodeInvalid:         http.StatusUnprocessableEntity,
	fairlead.CodeRefused:         http.StatusUnprocessableEntity,
	fairlead.CodeOpReused:        http.StatusUnprocessableEntity,
	fairlead.CodeLimited:         http.StatusTooManyRequests,
	fairlead.CodeInternal:        http.StatusInternalServerError,
	fairlead.CodeUnavailable:     http.StatusServiceUnavailable,
}

// problemOf turns any error into what the caller is shown. Of an internal error that is nothing but its code.
func problemOf(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	var e *fairlead.Error
	if !errors.As(err, &e) {
		e = &fairlead.Error{Code: fairlead.CodeInternal}
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			e = fairlead.Errorf(fairlead.CodeUnavailable, "the request took too long").WithHint("send it again under the same op")
		}
	}
	status, known := statusOf[e.Code]
	if !known || status == http.StatusInternalServerError {
		return newProblem(http.StatusInternalServerError, fairlead.CodeInternal)
	}
	p = newProblem(status, e.Code)
	p.Detail, p.Hint, p.Reason, p.Errors, p.Data = e.Message, e.Hint, e.Reason, e.Fields, e.Data
	return p
}

func newProblem(status int, code fairlead.Code) *Problem {
	if code == fairlead.CodeMalformed {
		code = fairlead.CodeInvalid // told apart by the status
	}
	return &Problem{Type: "urn:fairlead:problem:" + string(code), Title: http.StatusText(status), Status: status, Code: code}
}

// writeProblem answers outside the framework. Nothing can be done about a caller who has gone.
func writeProblem(w http.ResponseWriter, err error) {
	p := problemOf(err)
	body, merr := json.Marshal(p)
	if merr != nil {
		p = newProblem(http.StatusInternalServerError, fairlead.CodeInternal)
		body, _ = json.Marshal(p) // no facts, so nothing that could fail
	}
	h := w.Header()
	h.Set("Content-Type", problemType)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_, _ = w.Write(append(body, '\n'))
}
