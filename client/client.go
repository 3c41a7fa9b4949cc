package client

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Defaults of [Options].
const (
	defaultTimeout  = 60 * time.Second
	defaultPatience = time.Minute
	connections     = 64
)

// Options tune a Client; the zero value of a field is its default.
type Options struct {
	// HTTP sends the requests; default: a client of its own that follows no redirect, so that the token goes nowhere else.
	HTTP *http.Client
	// Workspace is the workspace of all calls; default: the server's choice, the token's own or main.
	Workspace string
	// Timeout bounds one call; default 60 s. Streams have none.
	Timeout time.Duration
	// Patience is how long a stream that was cut tries to come back; default one minute.
	Patience time.Duration
}

// Client speaks for one token. It is safe for concurrent use.
type Client struct {
	base  url.URL
	token string
	opts  Options
	match string // If-Match of writes, "" = none
}

// New makes a client of the server at baseURL, for example "http://127.0.0.1:7420". Nothing is sent.
func New(baseURL, token string, o *Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fairlead.Errorf(fairlead.CodeInvalid, "the server's address is not a URL").
			WithHint("write it like http://127.0.0.1:7420")
	}
	c := &Client{base: *u, token: token}
	c.base.Path = strings.TrimSuffix(u.Path, "/")
	c.base.RawQuery, c.base.Fragment = "", ""
	if o != nil {
		c.opts = *o
	}
	if c.opts.Timeout <= 0 {
		c.opts.Timeout = defaultTimeout
	}
	if c.opts.Patience <= 0 {
		c.opts.Patience = defaultPatience
	}
	if c.opts.HTTP == nil {
		c.opts.HTTP = newHTTP()
	}
	return c, nil
}

func newHTTP() *http.Client {
	h := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		t = t.Clone()
		t.MaxIdleConnsPerHost = connections
		h.Transport = t
	}
	return h
}

// In returns a client of the same server for another workspace.
func (c *Client) In(workspace string) *Client {
	other := *c
	other.opts.Workspace = workspace
	return &other
}

// IfVersion returns a client whose writes are refused with code stale unless the object still has that version.
func (c *Client) IfVersion(version int64) *Client {
	other := *c
	other.match = tag(version)
	return &other
}
