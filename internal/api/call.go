package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control"
)

// call is what the door learned of one request. It belongs to the request's goroutine.
type call struct {
	method string
	path   string
	route  string // pattern, "" when none matched
	caller control.Caller
	body   []byte // as checked, nil for none
	err    error  // what a handler failed with, for the log
	stream bool   // the answer is a stream, whose length says nothing
}

type callKey struct{}

func withCall(ctx context.Context, c *call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}

// callOf returns the request's call, nil outside of one.
func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// defaultWorkspace is where a token that may go everywhere goes when nothing is said.
const defaultWorkspace = "main"

// Scope names the workspace of a request.
type Scope struct {
	Workspace string `query:"workspace" doc:"Key of the workspace; default the token's own, else main."`
}

// resolve returns the workspace the caller means, if its token may go there.
func (s Scope) resolve(ctx context.Context) (string, error) {
	own := callOf(ctx).caller.Workspace
	want := s.Workspace
	if want == "" {
		want = own
	}
	if want == "" {
		want = defaultWorkspace
	}
	if err := fairlead.CheckKey("workspace", want); err != nil {
		return "", err
	}
	if own != "" && want != own {
		return "", fairlead.Errorf(fairlead.CodeForbidden, "this token belongs to another workspace").
			WithHint("leave ?workspace= out, or use a token of that workspace")
	}
	return want, nil
}

// everywhere refuses tokens that are bound to one workspace.
func everywhere(ctx context.Context) error {
	if callOf(ctx).caller.Workspace == "" {
		return nil
	}
	return fairlead.Errorf(fairlead.CodeForbidden, "this token is bound to one workspace").
		WithHint("use a token that may go to every workspace")
}

// Write is what every write takes beside its body.
type Write struct {
	Scope
	IdempotencyKey string `header:"Idempotency-Key" doc:"The operation id, for callers that cannot put op into the body."`
	IfMatch        string `header:"If-Match" doc:"The ETag that the caller has seen; another version is 412."`
}

// meta makes what control wants to know of a write. op is the operation id of the body.
func (w Write) meta(ctx context.Context, op fairlead.OpID) (control.Meta, error) {
	c := callOf(ctx)
	workspace, err := w.resolve(ctx)
	if err != nil {
		return control.Meta{}, err
	}
	id, err := operation(op, w.IdempotencyKey)
	if err != nil {
		return control.Meta{}, err
	}
	version, err := ifMatch(w.IfMatch)
	if err != nil {
		return control.Meta{}, err
	}
	print, err := fingerprint(c.method, c.path, c.body)
	if err != nil {
		return control.Meta{}, err
	}
	return control.Meta{Workspace: workspace, Actor: c.caller.Actor, Op: id, Fingerprint: print, IfVersion: version}, nil
}

// maxOp bounds an operation id: it is a key of the database.
const maxOp = 200

// operation joins the two places an operation id may stand in.
func operation(op fairlead.OpID, header string) (fairlead.OpID, error) {
	if op != "" && header != "" && string(op) != header {
		return "", fairlead.Errorf(fairlead.CodeMalformed, "op and Idempotency-Key name two operations").
			WithHint("send one of the two, or the same value in both")
	}
	if op == "" {
		op = fairlead.OpID(header)
	}
	if len(op) > maxOp {
		return "", fairlead.Errorf(fairlead.CodeInvalid, "op is longer than %d characters", maxOp).WithHint("use a UUID")
	}
	for _, r := range op {
		if r < '!' || r > '~' {
			return "", fairlead.Errorf(fairlead.CodeInvalid, "op holds a character that is not visible ASCII").WithHint("use a UUID")
		}
	}
	return op, nil
}

// fingerprint tells two requests under one operation id apart: method, path and the body without op, whatever the order
// of its fields and its white space. An empty body is an empty object.
func fingerprint(method, path string, body []byte) (string, error) {
	canonical, err := canonicalBody(body)
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\x00%s\x00", method, path)
	h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil)), nil
}

func canonicalBody(body []byte) ([]byte, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return []byte("{}"), nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read body again: %w", err)
	}
	if object, ok := v.(map[string]any); ok {
		delete(object, "op")
	}
	return json.Marshal(v)
}
