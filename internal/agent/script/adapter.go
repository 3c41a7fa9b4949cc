package script

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
)

// Adapter is the runtime of scripted agents.
type Adapter struct {
	rec  *agent.Recorder
	dir  string // transcripts of sessions whose launch brings none
	mu   sync.Mutex
	live map[agent.ExecutionID]*execution
	busy map[string]agent.ExecutionID // by session: one execution at a time
	wg   sync.WaitGroup
	shut bool
}

var _ agent.Runtime = (*Adapter)(nil)

// New makes an adapter that writes events by the recorder and keeps transcripts in dir.
func New(rec *agent.Recorder, dir string) (*Adapter, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make script sessions: %w", err)
	}
	return &Adapter{rec: rec, dir: dir, live: map[agent.ExecutionID]*execution{}, busy: map[string]agent.ExecutionID{}}, nil
}

// execution is a script being played. Its goroutine ends when done is closed.
type execution struct {
	spec    agent.LaunchSpec
	script  *Script
	session string
	history agent.Transcript
	track   *agent.Track
	next    chan agent.Prompt // of Resume, already recorded
	cancel  context.CancelFunc
	done    chan struct{}
	mu      sync.Mutex
	mode    agent.MCPMode
}

var sessionPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$`)

// Launch plays the script's answer to the first prompt. The session of a first launch is named like its execution. See
// [agent.Runtime] for who may call it.
func (a *Adapter) Launch(_ context.Context, spec agent.LaunchSpec) (agent.ExecutionRef, error) {
	if err := spec.Validate(); err != nil {
		return agent.ExecutionRef{}, err
	}
	s, err := Parse(spec.Profile.Script)
	if err != nil {
		return agent.ExecutionRef{}, &fairlead.Failure{Class: fairlead.ClassConfiguration, Message: err.Error()}
	}
	x := &execution{spec: spec, script: s, session: spec.Session, history: spec.Transcript, mode: spec.MCPMode,
		next: make(chan agent.Prompt, 1), done: make(chan struct{})}
	if x.session == "" {
		x.session = string(spec.ID)
	}
	if !sessionPattern.MatchString(x.session) {
		return agent.ExecutionRef{}, fairlead.Errorf(fairlead.CodeInvalid, "the session is not one of a scripted agent").WithOp("launch agent")
	}
	if x.history == nil {
		x.history = agent.NewFileTranscript(filepath.Join(a.dir, x.session+".jsonl"))
	}
	if err := a.admit(x); err != nil {
		return agent.ExecutionRef{}, err
	}
	return agent.ExecutionRef{ID: spec.ID, Session: x.session, Cursor: 1}, nil
}

// admit registers an execution and starts its goroutine, unless its session is being served.
func (a *Adapter) admit(x *execution) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.shut {
		return fairlead.Errorf(fairlead.CodeUnavailable, "the server is shutting down").WithOp("launch agent")
	}
	if _, ok := a.busy[x.session]; ok {
		return fairlead.Conflict(fairlead.ReasonBusy, "another execution serves the session").WithOp("launch agent")
	}
	var err error
	if x.track, err = a.rec.Begin(&x.spec, x.session); err != nil {
		return err
	}
	// The execution outlives the launch: its end is Stop, its script, or Close.
	ctx, cancel := context.WithCancel(context.Background())
	x.cancel = cancel
	a.live[x.spec.ID], a.busy[x.session] = x, x.spec.ID
	a.wg.Add(1)
	go func() {
		defer a.wg.Done()
		defer close(x.done)
		exit := x.run(ctx)
		a.mu.Lock()
		delete(a.live, x.spec.ID)
		delete(a.busy, x.session)
		a.mu.Unlock()
		_ = x.track.Exited(exit) // a failed write shows as a stream without an exited event
		cancel()
	}()
	return nil
}

func (a *Adapter) find(id agent.ExecutionID) *execution {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.live[id]
}

// Resume plays the answer to the next prompt.
func (a *Adapter) Resume(_ context.Context, id agent.ExecutionID, p agent.Prompt) error {
	x := a.find(id)
	if x == nil || !x.spec.KeepWarm {
		return a.gone(id)
	}
	if err := x.track.Prompted(p); err != nil {
		return err
	}
	x.next <- p // has room: a turn is open from Prompted to its end, and the loop takes it before
	return nil
}

// gone says why an execution takes no prompt.
func (a *Adapter) gone(id agent.ExecutionID) error {
	if _, err := a.rec.Spool().Get(id); err != nil {
		return err
	}
	return fairlead.Conflict(fairlead.ReasonBusy, "the execution takes no more prompts").WithHint("launch again with its session")
}

// Stop ends the execution; a tool that runs is cancelled with it.
func (a *Adapter) Stop(ctx context.Context, id agent.ExecutionID, reason agent.StopReason) error {
	x := a.find(id)
	if x == nil {
		_, err := a.rec.Spool().Get(id)
		return err
	}
	x.track.Stopping(reason)
	x.cancel()
	select {
	case <-x.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop agent: %w", ctx.Err())
	}
}

// SetMCPMode takes effect from the next call on.
func (a *Adapter) SetMCPMode(_ context.Context, id agent.ExecutionID, mode agent.MCPMode) error {
	x := a.find(id)
	if x == nil {
		return a.gone(id)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.mode = mode
	return nil
}

// GetExecution returns what is known.
func (a *Adapter) GetExecution(_ context.Context, id agent.ExecutionID) (agent.Execution, error) {
	if x := a.find(id); x != nil {
		return x.track.Snapshot(), nil
	}
	return a.rec.Spool().Get(id)
}

// SubscribeEvents streams from the spool.
func (a *Adapter) SubscribeEvents(ctx context.Context, id agent.ExecutionID, after agent.Cursor) (<-chan agent.Event, error) {
	return a.rec.Spool().Subscribe(ctx, id, after)
}

// Close stops everything that lives and waits for it.
func (a *Adapter) Close() {
	a.mu.Lock()
	a.shut = true
	for _, x := range a.live {
		x.track.Stopping(agent.StopShutdown)
		x.cancel()
	}
	a.mu.Unlock()
	a.wg.Wait()
}

func failure(reason agent.EndReason, class fairlead.ErrorClass, message string) *agent.TurnEnd {
	end := agent.Fail(class, message)
	end.Reason = reason
	return end
}

// sleep waits, forever for 0, and reports whether ctx let it.
func sleep(ctx context.Context, d time.Duration) bool {
	var c <-chan time.Time
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		c = t.C
	}
	select {
	case <-c:
		return true
	case <-ctx.Done():
		return false
	}
}
