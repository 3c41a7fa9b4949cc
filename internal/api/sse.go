package api

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// acceptsStream reports whether an Accept header asks for server-sent events.
func acceptsStream(accept string) bool { return strings.Contains(accept, "text/event-stream") }

// sse writes server-sent events. Frames are gathered and sent together.
type sse struct {
	w    http.ResponseWriter
	ctl  *http.ResponseController
	slow time.Duration
	buf  bytes.Buffer
}

// newSSE begins a stream's answer.
func newSSE(w http.ResponseWriter, slow time.Duration) *sse {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy that buffers makes a stream useless
	w.WriteHeader(http.StatusOK)
	return &sse{w: w, ctl: http.NewResponseController(w), slow: slow}
}

// retry tells the client how long to wait before it connects again. It belongs to the frame that follows.
func (e *sse) retry(pause time.Duration) {
	e.buf.WriteString("retry: " + strconv.FormatInt(pause.Milliseconds(), 10) + "\n")
}

// event gathers one event. data is one line.
func (e *sse) event(id, kind string, data []byte) {
	e.buf.WriteString("id: " + id + "\nevent: " + kind + "\ndata: ")
	e.buf.Write(data)
	e.buf.WriteString("\n\n")
}

// place gathers a frame that tells nothing but where the stream stands; clients keep the id and raise no event.
func (e *sse) place(id string) { e.buf.WriteString("id: " + id + "\n\n") }

// alive gathers a comment.
func (e *sse) alive() { e.buf.WriteString(":\n\n") }

// send writes what was gathered. A reader that does not take it in time is given up; it resumes by its last id.
func (e *sse) send() error {
	// A writer without deadlines (a recorder in a test) never blocks either.
	_ = e.ctl.SetWriteDeadline(time.Now().Add(e.slow))
	_, err := e.w.Write(e.buf.Bytes())
	e.buf.Reset()
	if err != nil {
		return err
	}
	return e.ctl.Flush()
}
