package agent

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// maxText bounds one piece of text, output or raw data on an event; longer text becomes several events, longer output
// is cut in the middle. The raw wire is kept elsewhere.
const maxText = 64 << 10

// Text that streams in small pieces is held back for a moment, so that a model's tokens do not become a line of the
// spool each. Any other event, and every end, lets it out first.
const (
	coalesceFor = 100 * time.Millisecond
	coalesceTo  = 8 << 10
)

// Recorder makes the events of an adapter's executions and keeps the promises of the port that every adapter owes:
// numbering, the state machine, calls closed at the end of a turn, usage that never falls.
type Recorder struct {
	spool *Spool
	now   func() time.Time
}

// NewRecorder writes to the spool and reads the time from now.
func NewRecorder(spool *Spool, now func() time.Time) *Recorder {
	return &Recorder{spool: spool, now: now}
}

// Spool returns where the events go.
func (r *Recorder) Spool() *Spool { return r.spool }

// Track writes the events of one execution. Its methods may be called from several goroutines; the order of the calls
// is the order of the events. A write that fails (disk full) is kept: see Err.
type Track struct {
	r        *Recorder
	id       ExecutionID
	metadata map[string]string

	mu       sync.Mutex
	log      *log
	session  string
	stopping StopReason
	calls    map[string]CallState // of the open turn
	held     Event                // text that waits for more; Kind is "" without
	timer    *time.Timer
	err      error
}

// Begin creates the execution with its started event. session is "" when the agent has not named it yet.
func (r *Recorder) Begin(spec *LaunchSpec, session string) (*Track, error) {
	first := Event{At: r.now(), Execution: spec.ID, Session: session, Kind: EventStarted, Metadata: spec.Metadata}
	l, err := r.spool.create(first)
	if err != nil {
		return nil, err
	}
	return &Track{r: r, id: spec.ID, metadata: spec.Metadata, log: l, session: session, calls: map[string]CallState{}}, nil
}

// Err returns the first write that failed. An adapter looks before it acts: what cannot be recorded must not go on.
func (t *Track) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Snapshot returns the execution as it stands.
func (t *Track) Snapshot() Execution {
	x := t.log.snapshot()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopping != "" && x.State != StateExited {
		x.State = StateStopping
	}
	return x
}

// emit writes one event under the lock, after the text that is held back.
func (t *Track) emit(e Event) {
	t.flush()
	t.write(e)
}

// flush lets held text out, under the lock.
func (t *Track) flush() {
	if t.held.Kind == "" {
		return
	}
	t.timer.Stop()
	e := t.held
	t.held = Event{}
	t.write(e)
}

// write fills in what every event bears and writes it.
func (t *Track) write(e Event) {
	x := &t.log.fold // written only by append, under t.mu
	e.At, e.Execution, e.Session = t.r.now(), t.id, t.session
	if e.Kind != EventPrompted {
		e.Turn = x.Turn
	}
	switch e.Kind {
	case EventPrompted, EventTurnEnded, EventExited, EventStarted:
	default:
		e.OutOfTurn = x.State != StateRunning
	}
	if _, err := t.log.append(e); err != nil && t.err == nil {
		t.err = err
	}
}

func (t *Track) one(e Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.exited() {
		t.emit(e)
	}
}

func (t *Track) exited() bool { return t.log.snapshot().State == StateExited }

// Session records the name that the agent gave its session.
func (t *Track) Session(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.session = name
}

// Prompted opens a turn. A turn that is open, a stop under way and an exit are conflicts.
func (t *Track) Prompted(p Prompt) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.log.snapshot()
	switch {
	case x.State == StateExited || t.stopping != "":
		return fairlead.Conflict(fairlead.ReasonBusy, "the execution has exited or is stopping").WithOp("prompt agent").
			WithHint("launch again with its session")
	case x.State == StateRunning:
		return fairlead.Conflict(fairlead.ReasonBusy, "a turn is open").WithOp("prompt agent")
	}
	t.calls = map[string]CallState{}
	t.emit(Event{Kind: EventPrompted, Turn: x.Turn + 1, PromptID: p.ID, Text: Clip(p.Text, maxText)})
	return t.err
}

// Stopping marks that a stop is under way; the first reason stays. It reports whether the caller is the first.
func (t *Track) Stopping(reason StopReason) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stopping != "" || t.exited() {
		return false
	}
	t.stopping = reason
	return true
}

// Reason returns the reason of the stop under way, "" without one.
func (t *Track) Reason() StopReason {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.stopping
}

// TurnEnded closes the open turn: open calls get a terminal state first. Without an open turn it does nothing.
func (t *Track) TurnEnded(end TurnEnd) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.log.snapshot()
	if x.State != StateRunning {
		return
	}
	for _, e := range turnEndings(&x, Event{}, end) {
		t.emit(e)
	}
}

// Exited ends the execution and its open turn. Only the first call counts. Subscribers get a closed channel after the
// event, also when it could not be written.
func (t *Track) Exited(exit Exit) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	x := t.log.snapshot()
	if x.State == StateExited {
		return nil
	}
	if exit.Reason == "" {
		exit.Reason = t.stopping
	}
	for _, e := range endings(&x, Event{}, exit) {
		t.emit(e)
	}
	t.r.spool.retire(t.id)
	if t.err != nil {
		return errors.Join(errors.New("record exit"), t.err)
	}
	return nil
}

// Open returns the calls of the open turn that have no terminal state.
func (t *Track) Open() []ToolCall { return slices.Clone(t.log.snapshot().Open) }
