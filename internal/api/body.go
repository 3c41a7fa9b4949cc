package api

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"time"

	"github.com/fairlead/fairlead"
)

const (
	// maxBody is the most a body may hold.
	maxBody = 1 << 20
	// bodyTime is how long a body may take to arrive.
	bodyTime = 15 * time.Second
)

// takeBody checks a request's body before anything else looks at it, and puts the bytes in its place.
func takeBody(w http.ResponseWriter, r *http.Request, c *call) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		r.Body = http.NoBody // GET and HEAD say everything in their URL
		r.Header.Del("Content-Type")
		return nil
	}
	if err := checkMediaType(r); err != nil {
		return err
	}
	if r.ContentLength > maxBody {
		return tooLarge()
	}
	body, err := readAll(w, r)
	if err != nil {
		return err
	}
	if len(body) > 0 {
		if err := checkJSON(body); err != nil {
			return err
		}
	}
	c.body = body
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	return nil
}

// checkMediaType lets pass what is said to be JSON, and requests that carry nothing. A form or plain text, which a
// browser sends without asking, is refused even when it is empty.
func checkMediaType(r *http.Request) error {
	refused := fairlead.Errorf(fairlead.CodeMediaType, "the body is not said to be JSON").
		WithHint("send the header Content-Type: application/json, and no Content-Encoding")
	if r.Header.Get("Content-Encoding") != "" {
		return refused
	}
	types := r.Header.Values("Content-Type")
	if len(types) == 0 {
		if r.ContentLength == 0 {
			return nil
		}
		return refused
	}
	media, _, err := mime.ParseMediaType(types[0])
	if len(types) > 1 || err != nil || media != "application/json" {
		return refused
	}
	r.Header.Set("Content-Type", "application/json") // one spelling for what follows
	return nil
}

func tooLarge() error {
	return fairlead.Errorf(fairlead.CodeTooLarge, "the body is larger than %d bytes", maxBody).
		WithHint("put large content into a file of the task's repository")
}

func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	// Not every writer has a deadline (a recorder in a test has none); then the server's own limits hold.
	if err := control.SetReadDeadline(time.Now().Add(bodyTime)); err == nil {
		defer func() { _ = control.SetReadDeadline(time.Time{}) }() // as above: a writer that had one has one
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return body, nil
	case errors.As(err, &large):
		return nil, tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fairlead.Errorf(fairlead.CodeMalformed, "the body did not arrive in time").WithHint("send it again under the same op")
	}
	return nil, fairlead.Errorf(fairlead.CodeMalformed, "the body broke off").WithHint("send it again under the same op")
}
