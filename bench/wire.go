package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// wire is one keep-alive connection. It spends as little as it can, because client and server share the machine and
// what the client takes the server misses.
type wire struct {
	conn  net.Conn
	in    *bufio.Reader
	out   []byte
	host  string
	token string
	ops   int
	run   string // makes operation ids differ between wires
}

func (s *server) wire(ctx context.Context) (*wire, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, in: bufio.NewReaderSize(conn, 16<<10), host: s.addr, token: s.token, run: rand.Text()}, nil
}

// callLimit is how long one answer may take.
const callLimit = 30 * time.Second

// call sends one request and decodes the answer into out, unless that is nil. Every write has an operation id, as those
// of all clients do. A status of 300 or more is an error.
func (w *wire) call(method, path string, body, out any) error {
	var payload []byte
	if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return err
		}
	}
	w.out = fmt.Appendf(w.out[:0], "%s /api/v1%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n", method, path, w.host, w.token)
	if method != http.MethodGet {
		w.ops++
		w.out = append(w.out, "Content-Type: application/json\r\nIdempotency-Key: "+w.run+strconv.Itoa(w.ops)+"\r\nContent-Length: "...)
		w.out = append(strconv.AppendInt(w.out, int64(len(payload)), 10), "\r\n"...)
	}
	w.out = append(append(w.out, "\r\n"...), payload...)
	if err := w.conn.SetDeadline(time.Now().Add(callLimit)); err != nil {
		return err
	}
	if _, err := w.conn.Write(w.out); err != nil {
		return err
	}
	return w.answer(method, path, out)
}

func (w *wire) answer(method, path string, out any) error {
	resp, err := http.ReadResponse(w.in, nil)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	data, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if resp.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %s: %s", method, path, resp.Status, data)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(data, out)
}

func (w *wire) Close() error { return w.conn.Close() }

// wires opens c connections.
func (s *server) wires(ctx context.Context, c int) (out []*wire, closeAll func(), err error) {
	closeAll = func() {
		for _, w := range out {
			_ = w.Close()
		}
	}
	for range c {
		w, err := s.wire(ctx)
		if err != nil {
			closeAll()
			return nil, nil, err
		}
		out = append(out, w)
	}
	return out, closeAll, nil
}
