package client

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/fairlead/fairlead"
)

// members are what every problem has; whatever else stands in one are facts.
var members = []string{"type", "title", "status", "code", "detail", "hint", "reason", "errors"}

// problem makes the error that an answer speaks of. An answer that does not come from a Fairlead server, a proxy's page
// say, is told by its status alone.
func problem(status int, body []byte) error {
	var p struct {
		Code   fairlead.Code         `json:"code"`
		Title  string                `json:"title"`
		Detail string                `json:"detail"`
		Hint   string                `json:"hint"`
		Reason string                `json:"reason"`
		Errors []fairlead.FieldError `json:"errors"`
	}
	var facts map[string]any
	if json.Unmarshal(body, &p) != nil || p.Code == "" || json.Unmarshal(body, &facts) != nil {
		return &fairlead.Error{Code: codeOf(status), Message: http.StatusText(status), Hint: "is this the address of a Fairlead server?"}
	}
	for _, m := range members {
		delete(facts, m)
	}
	if len(facts) == 0 {
		facts = nil
	}
	e := &fairlead.Error{Code: p.Code, Message: p.Detail, Hint: p.Hint, Reason: p.Reason, Fields: p.Errors, Data: facts}
	if status == http.StatusBadRequest && p.Code == fairlead.CodeInvalid {
		e.Code = fairlead.CodeMalformed
	}
	if e.Message == "" {
		e.Message = p.Title
	}
	return e
}

func codeOf(status int) fairlead.Code {
	switch status {
	case http.StatusUnauthorized:
		return fairlead.CodeUnauthenticated
	case http.StatusForbidden:
		return fairlead.CodeForbidden
	case http.StatusNotFound:
		return fairlead.CodeNotFound
	case http.StatusRequestEntityTooLarge:
		return fairlead.CodeTooLarge
	case http.StatusTooManyRequests:
		return fairlead.CodeLimited
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return fairlead.CodeUnavailable
	}
	if status < http.StatusInternalServerError {
		return fairlead.CodeRefused
	}
	return fairlead.CodeInternal
}

// refusal reads the error of an answer that should have been a stream.
func refusal(resp *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		body = nil // the status says enough
	}
	return problem(resp.StatusCode, body)
}
