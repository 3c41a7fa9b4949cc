package e2e

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead/fairlead/client"
)

// options of one start of the real server.
type options struct {
	home string   // default: a new one
	db   string   // default: SQLite in the home
	args []string // further flags of serve
	env  []string // further variables
}

// server is a running process of the real binary.
type server struct {
	t      testing.TB
	home   string
	url    string
	token  string
	client *client.Client
	cmd    *exec.Cmd
	log    *log
	gone   chan struct{} // closed when the process has ended
	code   int           // its exit code, after gone
}

// log keeps what a process writes to stderr.
type log struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

var listens = regexp.MustCompile(`^Fairlead listens on (http://\S+) \(home (.+)\)$`)

// start starts a server and waits until it says where it listens.
func start(t testing.TB, o options) *server {
	t.Helper()
	s, err := launch(t, o)
	if err != nil {
		t.Fatalf("start server: %v", err)
	}
	return s
}

// launch starts a server; the error holds what it said if it ended instead of listening.
func launch(t testing.TB, o options) (*server, error) {
	t.Helper()
	if o.home == "" {
		o.home = filepath.Join(t.TempDir(), "home")
	}
	s := &server{t: t, home: o.home, log: &log{}, gone: make(chan struct{})}
	args := append([]string{"serve", "--home", o.home, "--addr", "127.0.0.1:0"}, o.args...)
	if o.db != "" {
		args = append(args, "--database", o.db)
	}
	s.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), binary, args...)
	s.cmd.Env, s.cmd.Stderr = append(environ(), o.env...), s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	told := make(chan string, 1)
	go s.watch(out, told)
	select {
	case s.url = <-told:
	case <-s.gone:
		return s, errors.New(s.log.String())
	case <-time.After(deadline):
		s.kill()
		return s, errors.New("it does not listen: " + s.log.String())
	}
	t.Cleanup(s.end)
	token, err := os.ReadFile(filepath.Join(s.home, "token"))
	if err != nil {
		return s, err
	}
	s.token = strings.TrimSpace(string(token))
	s.client, err = client.New(s.url, s.token, nil)
	return s, err
}

// watch reads stdout to its end, tells the address, and waits for the process.
func (s *server) watch(out io.Reader, told chan<- string) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := listens.FindStringSubmatch(lines.Text()); m != nil {
			told <- m[1]
		}
	}
	_ = s.cmd.Wait() // the exit code says it
	s.code = s.cmd.ProcessState.ExitCode()
	close(s.gone)
}

// environ is a clean environment: no setting of the caller's own server may reach the one under test.
func environ() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "FAIRLEAD_") {
			env = append(env, e)
		}
	}
	return env
}

// as is a client with another token.
func (s *server) as(token string) *client.Client {
	c, err := client.New(s.url, token, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return c
}

// kill ends the process as a power cut would end it: kill -9, and waits.
func (s *server) kill() {
	_ = s.cmd.Process.Kill() // gone already is as good
	<-s.gone
}

// signal sends a signal to the process.
func (s *server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatalf("signal server: %v", err)
	}
}

// stop ends the server in the orderly way and returns its exit code.
func (s *server) stop() int {
	s.t.Helper()
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // gone already is as good
	select {
	case <-s.gone:
	case <-time.After(deadline):
		s.kill()
		s.t.Errorf("the server did not stop:\n%s", s.tail())
	}
	return s.code
}

// again starts a server on the home of one that has ended.
func (s *server) again(o options) *server {
	s.t.Helper()
	o.home = s.home
	return start(s.t, o)
}

// end is the clean-up: nothing may be left, and no server may ever have panicked.
func (s *server) end() {
	s.stop()
	if text := s.log.String(); strings.Contains(text, "panic") || strings.Contains(text, "goroutine ") {
		s.t.Errorf("the server panicked:\n%s", text)
	}
	if s.t.Failed() {
		s.t.Logf("server log:\n%s", s.tail())
	}
}

// tail is the end of the server's log.
func (s *server) tail() string {
	text := s.log.String()
	return text[max(0, len(text)-4000):]
}
