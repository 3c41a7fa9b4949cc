package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// Spool keeps the events of executions on disk, one file of JSON lines each. The file is the cursor's ground: a reader
// reads it at its own pace, so no reader can delay the writer or another reader, and a reader of a later process finds
// everything. What is appended survives the death of the process; ends of turns and exits also survive a power cut.
type Spool struct {
	dir  string
	mu   sync.Mutex
	live map[ExecutionID]*log
	quit chan struct{}
	wg   sync.WaitGroup
}

// OpenSpool opens the spool in dir, made if it is missing. Executions that an earlier process left without an exited
// event get the ends that it could not write any more, at the time now: from then on nothing says running that is not.
func OpenSpool(dir string, now time.Time) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make spool: %w", err)
	}
	s := &Spool{dir: dir, live: map[ExecutionID]*log{}, quit: make(chan struct{})}
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list spool: %w", err)
	}
	for _, n := range names {
		id, ok := strings.CutSuffix(n.Name(), ".jsonl")
		if !ok {
			continue
		}
		if err := s.bury(ExecutionID(id), now); err != nil {
			return nil, fmt.Errorf("recover spool of %s: %w", id, err)
		}
	}
	return s, nil
}

// bury ends what an earlier process left open.
func (s *Spool) bury(id ExecutionID, now time.Time) error {
	l, err := openLog(s.path(id))
	if err != nil {
		return err
	}
	defer l.close()
	x := l.fold
	if x.State == StateExited {
		return nil
	}
	if x.State == "" { // the crash came before the first event: nobody can know this execution
		return os.Remove(s.path(id))
	}
	base := Event{At: now, Execution: id, Session: x.Session, Turn: x.Turn}
	for _, e := range endings(&x, base, Exit{Code: -1, Interrupted: true}) {
		if _, err := l.append(e); err != nil {
			return err
		}
	}
	return nil
}

// endings returns the events that close an execution: its open calls, its open turn, itself.
func endings(x *Execution, base Event, exit Exit) []Event {
	var out []Event
	if x.State == StateRunning {
		end := TurnEnd{Reason: EndInterrupted}
		switch {
		case exit.Interrupted:
		case exit.Reason != "":
			end.Reason = EndCancelled
		default:
			msg := fmt.Sprintf("the agent exited with code %d in mid-turn", exit.Code)
			if exit.Message != "" {
				msg += ": " + exit.Message
			}
			end = *Fail(fairlead.ClassTransient, msg)
		}
		out = turnEndings(x, base, end)
	}
	base.Kind, base.Exit = EventExited, &exit
	return append(out, base)
}

// turnEndings returns the events that close a turn: a terminal state for each open call, then the end.
func turnEndings(x *Execution, base Event, end TurnEnd) []Event {
	var out []Event
	for _, c := range x.Open {
		e := base
		state := CallUnknown
		if end.Reason == EndCancelled || end.Reason == EndUnasked {
			state = CallCancelled
		}
		e.Kind, e.Tool = EventToolCall, &ToolCall{ID: c.ID, Name: c.Name, State: state}
		out = append(out, e)
	}
	base.Kind, base.End, base.PromptID = EventTurnEnded, &end, x.PromptID
	return append(out, base)
}

func (s *Spool) path(id ExecutionID) string { return filepath.Join(s.dir, string(id)+".jsonl") }

// create begins the log of an execution with its started event.
func (s *Spool) create(first Event) (*log, error) {
	f, err := os.OpenFile(s.path(first.Execution), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fairlead.Conflict(fairlead.ReasonExists, "an execution of this id was launched before").WithOp("launch agent")
	}
	if err != nil {
		return nil, fmt.Errorf("create spool: %w", err)
	}
	l := &log{f: f, changed: make(chan struct{})}
	if _, err := l.append(first); err != nil {
		l.close()
		return nil, errors.Join(err, os.Remove(s.path(first.Execution)))
	}
	s.mu.Lock()
	s.live[first.Execution] = l
	s.mu.Unlock()
	return l, nil
}

// retire forgets the log of an execution that has exited; readers that hold it finish by themselves.
func (s *Spool) retire(id ExecutionID) {
	s.mu.Lock()
	l := s.live[id]
	delete(s.live, id)
	s.mu.Unlock()
	if l != nil {
		l.finish()
	}
}

// find returns the log of an execution, living or not.
func (s *Spool) find(id ExecutionID) (*log, error) {
	s.mu.Lock()
	l := s.live[id]
	s.mu.Unlock()
	if l != nil {
		return l, nil
	}
	if !executionPattern.MatchString(string(id)) {
		return nil, unknownExecution()
	}
	l, err := openLog(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unknownExecution()
	}
	if err != nil {
		return nil, err
	}
	if x := l.fold; x.State != StateExited { // its exit could not be written: it is dead all the same
		for _, e := range endings(&x, Event{At: x.Last, Execution: id, Session: x.Session, Turn: x.Turn, Seq: x.Cursor}, Exit{Code: -1, Interrupted: true}) {
			l.fold.Apply(&e)
		}
	}
	l.finish()
	return l, nil
}

func unknownExecution() error {
	return fairlead.Errorf(fairlead.CodeNotFound, "no such execution").WithHint("its spool may be past its retention")
}

// Get folds what is known of an execution.
func (s *Spool) Get(id ExecutionID) (Execution, error) {
	l, err := s.find(id)
	if err != nil {
		return Execution{}, err
	}
	return l.snapshot(), nil
}

// Remove deletes the spool of an execution that has exited; a missing one is no error.
func (s *Spool) Remove(id ExecutionID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[id] != nil {
		return fairlead.Conflict(fairlead.ReasonBusy, "the execution is alive").WithOp("remove spool")
	}
	if err := os.Remove(s.path(id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove spool: %w", err)
	}
	return nil
}

// Prune removes the spools of exited executions whose last event is older than before, and returns their number.
func (s *Spool) Prune(before time.Time) (int, error) {
	names, err := os.ReadDir(s.dir)
	if err != nil {
		return 0, fmt.Errorf("list spool: %w", err)
	}
	n := 0
	for _, d := range names {
		id, ok := strings.CutSuffix(d.Name(), ".jsonl")
		info, err := d.Info()
		if !ok || err != nil || !info.ModTime().Before(before) {
			continue
		}
		if err := s.Remove(ExecutionID(id)); fairlead.IsCode(err, fairlead.CodeConflict) {
			continue
		} else if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Close ends all subscriptions and waits for them. Executions must have been stopped before.
func (s *Spool) Close() error {
	s.mu.Lock()
	select {
	case <-s.quit:
	default:
		close(s.quit)
	}
	s.mu.Unlock()
	s.wg.Wait()
	return nil
}

// Subscribe streams the events after a cursor; see [Runtime].
func (s *Spool) Subscribe(ctx context.Context, id ExecutionID, after Cursor) (<-chan Event, error) {
	l, err := s.find(id)
	if err != nil {
		return nil, err
	}
	if head := l.snapshot().Cursor; after > head || after < 0 {
		return nil, fairlead.Errorf(fairlead.CodeStale, "the cursor stands behind the newest event").WithOp("subscribe events").
			WithHint("subscribe from 0")
	}
	f, err := os.Open(s.path(id))
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.quit:
		return nil, errors.Join(fairlead.Errorf(fairlead.CodeUnavailable, "the server is shutting down"), f.Close())
	default:
	}
	ch := make(chan Event, 16)
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		defer close(ch)
		defer f.Close()
		l.follow(ctx, s.quit, f, after, ch)
	}()
	return ch, nil
}

func encode(e Event) ([]byte, error) {
	if e.Kind != EventStarted {
		e.Metadata = nil // stands once in the file and is put on again on the way out
	}
	line, err := json.Marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode event: %w", err)
	}
	return append(line, '\n'), nil
}
