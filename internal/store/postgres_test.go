package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	fairlead "github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

func asError(err error, target **fairlead.Error) bool { return errors.As(err, target) }

// TestDeadlockIsRetried crosses two writes without the Tx's locks, as a fault would.
func TestDeadlockIsRetried(t *testing.T) {
	t.Parallel()
	b := storetest.Postgres(t)
	db := b.Open(t, nil)
	if err := db.Write(t.Context(), func(tx *store.Tx) error { return errors.Join(tx.BumpRevision("a"), tx.BumpRevision("b")) }); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var tries atomic.Int64
	meet := make(chan struct{})
	cross := func(first, second string) {
		met := false
		err := db.Write(t.Context(), func(tx *store.Tx) error {
			tries.Add(1)
			if err := tx.BumpRevision(first); err != nil {
				return err
			}
			if !met {
				met = true
				select {
				case meet <- struct{}{}:
				case <-meet:
				}
			}
			return tx.BumpRevision(second)
		})
		if err != nil {
			t.Errorf("a deadlocked command: %v", err)
		}
	}
	wg.Go(func() { cross("a", "b") })
	wg.Go(func() { cross("b", "a") })
	wg.Wait()
	if tries.Load() < 3 {
		t.Errorf("%d tries: the commands did not cross", tries.Load())
	}
	err := db.Read(t.Context(), func(r *store.ReadTx) error {
		n, err := r.Revision("a")
		if n != 3 {
			t.Errorf("revision %d, want 3", n)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// proxy stands between a pool and its server and can cut the line when a COMMIT passes.
type proxy struct {
	listener net.Listener
	cut      atomic.Int32 // cutBefore, cutAfter or 0; one cut uses it up
}

const (
	cutBefore = 1 // the server never sees the COMMIT
	cutAfter  = 2 // the server carries it out, and its answer is lost
)

// bindCommit returns how a COMMIT that was prepared before is told to be carried out: the name that pgx gives to its
// statement, alone between zeros, stands in a Bind and not in the Parse that gives it.
func bindCommit() []byte {
	digest := sha256.Sum256([]byte("COMMIT"))
	return []byte("\x00stmtcache_" + hex.EncodeToString(digest[:24]) + "\x00")
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l}
	var wg sync.WaitGroup
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	wg.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { p.carry(client, target) })
		}
	})
	return p
}

func (p *proxy) carry(client net.Conn, target string) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	defer func() { _ = server.Close() }()
	var muted atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(writerFunc(func(b []byte) (int, error) {
			if muted.Load() {
				return 0, io.ErrClosedPipe
			}
			return client.Write(b)
		}), server)
		_ = client.Close()
	}()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			break
		}
		if bytes.Contains(buf[:n], bindCommit()) {
			switch p.cut.Swap(0) {
			case cutBefore:
				_ = server.Close()
				<-done
				return
			case cutAfter:
				muted.Store(true)
				_, _ = server.Write(buf[:n])
				<-done
				return
			}
		}
		if _, err := server.Write(buf[:n]); err != nil {
			break
		}
	}
	_ = server.Close()
	<-done
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestCommitUnknown loses the connection in COMMIT, once before and once after the server has it, and sends the command
// again under its id.
func TestCommitUnknown(t *testing.T) {
	t.Parallel()
	b := storetest.Postgres(t)
	u, err := url.Parse(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, u.Host)
	u.Host = p.listener.Addr().String()
	db := storetest.Backend{Name: "postgres", URL: u.String()}.Open(t, nil)
	for cut, id := range map[int32]fairlead.OpID{cutBefore: "op_before", cutAfter: "op_after"} {
		effects := 0
		command := func(tx *store.Tx) error {
			prev, err := tx.Op("w", "person:anna", id, "print", fairlead.Seed{})
			if err != nil || prev != nil {
				return err
			}
			effects++
			return tx.InsertNotice(fairlead.Notice{ID: string(id), Workspace: "w", Kind: "k"})
		}
		p.cut.Store(cut)
		err := db.Write(t.Context(), command)
		if !errors.Is(err, store.ErrUnknown) || !fairlead.IsCode(err, fairlead.CodeUnavailable) {
			t.Errorf("%s: got %v, want unknown", id, err)
		}
		if err := db.Write(t.Context(), command); err != nil {
			t.Errorf("%s again: %v", id, err)
		}
		if want := map[int32]int{cutBefore: 2, cutAfter: 1}[cut]; effects != want {
			t.Errorf("%s: the command worked in %d tries, want %d", id, effects, want)
		}
		err = db.Read(t.Context(), func(r *store.ReadTx) error { _, err := r.LoadNotice(string(id)); return err })
		if err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// TestNothingSentIsKnown: a command whose first batch holds its COMMIT and finds no connection has not happened, and its
// caller is told so.
func TestNothingSentIsKnown(t *testing.T) {
	t.Parallel()
	b := storetest.Postgres(t)
	u, err := url.Parse(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, u.Host)
	u.Host = p.listener.Addr().String()
	db := storetest.Backend{Name: "postgres", URL: u.String()}.Open(t, nil)
	admin, err := sql.Open("pgx", b.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	_ = p.listener.Close() // nobody connects any more
	const q = `SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
	if _, err := admin.ExecContext(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	// Each connection that was pooled may still take a COMMIT along, whose outcome nobody knows.
	for range 2 * maxPooled {
		err = db.Write(t.Context(), func(tx *store.Tx) error {
			return tx.InsertNotice(fairlead.Notice{ID: "a", Workspace: "w", Kind: "k"})
		})
		if !errors.Is(err, store.ErrUnknown) {
			break
		}
	}
	if !fairlead.IsCode(err, fairlead.CodeUnavailable) || errors.Is(err, store.ErrUnknown) {
		t.Errorf("without a connection: got %v, want unavailable and known", err)
	}
}

// maxPooled is the default size of the pool.
const maxPooled = 16

// TestLostConnections terminates every backend of a node, the listener's too.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	b := storetest.Postgres(t)
	db := b.Open(t, nil)
	admin, err := sql.Open("pgx", b.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	kill := func() {
		const q = `SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
		if _, err := admin.ExecContext(context.Background(), q); err != nil {
			t.Errorf("terminate: %v", err)
		}
	}
	err = db.Write(t.Context(), func(tx *store.Tx) error {
		if err := tx.InsertNotice(fairlead.Notice{ID: "a", Workspace: "w", Kind: "k"}); err != nil {
			return err
		}
		if _, err := tx.LoadNotice("a"); err != nil {
			return err
		}
		kill()
		_, err := tx.LoadNotice("a")
		return err
	})
	if !fairlead.IsCode(err, fairlead.CodeUnavailable) || errors.Is(err, store.ErrUnknown) {
		t.Errorf("connection lost before the commit: got %v, want unavailable and known", err)
	}
	s := db.Signals()
	defer s.Close()
	kill()
	deadline := time.After(30 * time.Second)
	err = errors.New("not tried")
	for err != nil {
		err = db.Write(t.Context(), func(tx *store.Tx) error { tx.Emit(fairlead.Event{Kind: fairlead.EventTaskUpdated}); return nil })
	}
	for {
		if _, head, err := db.Head(t.Context()); err == nil && head == 1 {
			break
		}
		select {
		case <-s.C(store.TopicEvents):
		case <-deadline:
			t.Fatal("the log did not go on after the connections were lost")
		}
	}
}
