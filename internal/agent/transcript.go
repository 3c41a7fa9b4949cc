package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// Transcript is the durable history of one session of an agent whose loop runs in the server. What is appended is
// durable before Append returns: an agent appends a model's reply before it acts on it, and each tool result as soon
// as it is there, and goes on from the last entry after an interruption.
type Transcript interface {
	Load(ctx context.Context) ([]Entry, error)
	Append(ctx context.Context, e Entry) error
}

// EntryKind says what an entry of a transcript is.
type EntryKind string

// The kinds.
const (
	EntryPrompt  EntryKind = "prompt"  // begins a turn; PromptID is set
	EntryReply   EntryKind = "reply"   // a model's reply, whole
	EntryResult  EntryKind = "result"  // of a tool call
	EntrySummary EntryKind = "summary" // stands for everything before it
	EntryEnd     EntryKind = "end"     // ends a turn
)

// Entry is one record of a session. Data is the adapter's own and opaque to everybody else.
type Entry struct {
	Kind     EntryKind       `json:"kind"`
	Turn     int             `json:"turn"` // counts the turns of the session from 1
	PromptID string          `json:"prompt_id,omitempty"`
	Call     string          `json:"call,omitempty"`
	Text     string          `json:"text,omitempty"`
	Result   *Result         `json:"result,omitempty"`
	End      *TurnEnd        `json:"end,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
}

// FileTranscript keeps a transcript as JSON lines in a file, synced at each append. A last line that a crash cut is
// dropped.
type FileTranscript struct {
	path string
	mu   sync.Mutex
}

// NewFileTranscript names the file; its directory must exist, the file need not.
func NewFileTranscript(path string) *FileTranscript { return &FileTranscript{path: path} }

// Load reads the whole history.
func (t *FileTranscript) Load(context.Context) ([]Entry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f, err := os.Open(t.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open transcript: %w", err)
	}
	defer f.Close()
	var out []Entry
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read transcript: %w", err)
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("decode transcript: %w", err)
		}
		out = append(out, e)
	}
}

// Append writes one entry and syncs it.
func (t *FileTranscript) Append(_ context.Context, e Entry) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	line, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("encode transcript: %w", err)
	}
	f, err := os.OpenFile(t.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open transcript: %w", err)
	}
	defer f.Close()
	end, err := lastNewline(f)
	if err != nil {
		return fmt.Errorf("find end of transcript: %w", err)
	}
	if _, err := f.WriteAt(append(line, '\n'), end); err != nil {
		return fmt.Errorf("write transcript: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("sync transcript: %w", err)
	}
	return f.Close()
}

// LastTurn returns the entries of the newest turn and whether it has an end; nil for an empty transcript.
func LastTurn(all []Entry) (turn []Entry, ended bool) {
	start := -1
	for i, e := range all {
		switch e.Kind {
		case EntryPrompt:
			start, ended = i, false
		case EntryEnd:
			ended = true
		}
	}
	if start < 0 {
		return nil, false
	}
	return all[start:], ended
}

// OpenTurn returns the entries of a transcript's last turn when it has no end, and the number of turns begun.
func OpenTurn(all []Entry) (open []Entry, turns int) {
	last, ended := LastTurn(all)
	if len(last) == 0 {
		return nil, 0
	}
	if ended {
		return nil, last[0].Turn
	}
	return last, last[0].Turn
}
