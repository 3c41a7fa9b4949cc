package client

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/fairlead/fairlead"
)

const (
	prefix = "/api/v1"
	// maxAnswer bounds what is read of one answer.
	maxAnswer = 64 << 20
)

func tag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// path joins the segments of a route, each escaped.
func path(segments ...string) string {
	p := prefix
	for _, s := range segments {
		p += "/" + url.PathEscape(s)
	}
	return p
}

// read asks for one object.
func read[T any](ctx context.Context, c *Client, path string, q url.Values) (T, error) {
	var out T
	err := c.do(ctx, http.MethodGet, path, q, nil, nil, &out)
	return out, err
}

// items asks for a list that has one page.
func items[T any](ctx context.Context, c *Client, path string) ([]T, error) {
	p, err := read[fairlead.Page[T]](ctx, c, path, nil)
	return p.Items, err
}

// write sends a command under its operation id, which is made here when the caller has none.
func write[T any](ctx context.Context, c *Client, method, path string, q url.Values, body any, op fairlead.OpID) (T, error) {
	var out T
	if op == "" {
		op = fairlead.OpID(rand.Text())
	}
	h := http.Header{}
	h.Set("Idempotency-Key", string(op))
	if c.match != "" {
		h.Set("If-Match", c.match)
	}
	err := c.do(ctx, method, path, q, body, h, &out)
	return out, err
}

// post is write for most routes.
func post[T any](ctx context.Context, c *Client, path string, body any, op fairlead.OpID) (T, error) {
	return write[T](ctx, c, http.MethodPost, path, nil, body, op)
}

// do makes one call and decodes its answer into out; nil discards it.
func (c *Client) do(ctx context.Context, method, path string, q url.Values, body any, h http.Header, out any) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	r, err := c.request(ctx, method, path, q, body, h)
	if err != nil {
		return err
	}
	resp, err := c.opts.HTTP.Do(r)
	if err != nil {
		return unreachable(ctx, err)
	}
	defer func() { _ = resp.Body.Close() }() // read to its end or given up
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return unreachable(ctx, err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return problem(resp.StatusCode, data)
	}
	if out == nil || len(data) == 0 {
		return nil
	}
	if raw, ok := out.(*[]byte); ok {
		*raw = data
		return nil
	}
	if err := json.Unmarshal(data, out); err != nil {
		return &fairlead.Error{Code: fairlead.CodeInternal, Message: "the server's answer cannot be read", Hint: "is this a Fairlead server of the same version?", Err: err}
	}
	return nil
}

func (c *Client) request(ctx context.Context, method, path string, q url.Values, body any, h http.Header) (*http.Request, error) {
	u := c.base.String() + path
	if c.opts.Workspace != "" {
		if q == nil {
			q = url.Values{}
		}
		q.Set("workspace", c.opts.Workspace)
	}
	if len(q) > 0 {
		u += "?" + q.Encode()
	}
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("write body: %w", err)
		}
		content = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, u, content)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if h != nil {
		r.Header = h
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	return r, nil
}

// unreachable says that no answer came; a caller who gave up gets the reason of its own context.
func unreachable(ctx context.Context, err error) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return &fairlead.Error{
		Code: fairlead.CodeUnavailable, Message: "the server does not answer",
		Hint: "start it with `fairlead serve`, or set FAIRLEAD_URL to where it listens", Err: err,
	}
}
