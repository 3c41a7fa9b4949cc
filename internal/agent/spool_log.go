package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
)

// indexEvery is the distance of the places in a log that are remembered, so that a late subscriber need not read it
// from the beginning.
const indexEvery = 256

// log is the spool of one execution. changed is closed and replaced at each append: a broadcast that nobody has to
// receive.
type log struct {
	mu      sync.Mutex
	f       *os.File
	size    int64
	index   []int64 // index[i] is the offset of event i*indexEvery+1
	fold    Execution
	done    bool
	changed chan struct{}
}

// openLog reads a log from disk and cuts a half-written last line.
func openLog(path string) (*log, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	l := &log{f: f, changed: make(chan struct{})}
	end, err := lastNewline(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("mend spool: %w", err), f.Close())
	}
	r := bufio.NewReaderSize(io.NewSectionReader(f, 0, end), 64<<10)
	for l.size < end {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return nil, errors.Join(fmt.Errorf("read spool: %w", err), f.Close())
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, errors.Join(fmt.Errorf("decode spool: %w", err), f.Close())
		}
		l.take(&e, len(line))
	}
	return l, nil
}

func (l *log) take(e *Event, length int) {
	if (int64(e.Seq)-1)%indexEvery == 0 {
		l.index = append(l.index, l.size)
	}
	l.size += int64(length)
	l.fold.Apply(e)
}

// append numbers and writes one event. A failed write leaves the log as it was.
func (l *log) append(e Event) (Event, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done || l.fold.State == StateExited {
		return e, errors.New("append event: the execution has exited")
	}
	e.Seq = l.fold.Cursor + 1
	line, err := encode(e)
	if err != nil {
		return e, err
	}
	if _, err := l.f.WriteAt(line, l.size); err != nil {
		return e, fmt.Errorf("write spool: %w", err)
	}
	l.take(&e, len(line))
	if e.Kind == EventTurnEnded || e.Kind == EventExited {
		if err := l.f.Sync(); err != nil {
			return e, fmt.Errorf("sync spool: %w", err)
		}
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return e, nil
}

// finish says that no event will come any more.
func (l *log) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.done {
		return
	}
	l.done = true
	l.close()
	close(l.changed)
	l.changed = make(chan struct{})
}

// close gives the file back. What was to be durable has been synced, so its error says nothing.
func (l *log) close() { _ = l.f.Close() }

func (l *log) snapshot() Execution {
	l.mu.Lock()
	defer l.mu.Unlock()
	x := l.fold
	x.Open = slices.Clone(x.Open)
	return x
}

// follow sends the events after a cursor until the log is done and read, ctx ends or quit is closed.
func (l *log) follow(ctx context.Context, quit <-chan struct{}, f *os.File, after Cursor, ch chan<- Event) {
	l.mu.Lock()
	off := int64(0)
	if i := int(int64(after) / indexEvery); i < len(l.index) {
		off = l.index[i]
	} else if len(l.index) > 0 {
		off = l.index[len(l.index)-1]
	}
	l.mu.Unlock()
	for {
		l.mu.Lock()
		size, done, changed, meta := l.size, l.done || l.fold.State == StateExited, l.changed, l.fold.Metadata
		l.mu.Unlock()
		r := bufio.NewReaderSize(io.NewSectionReader(f, off, size-off), 32<<10)
		for off < size {
			line, err := r.ReadBytes('\n')
			var e Event
			if err != nil || json.Unmarshal(line, &e) != nil {
				return // the file was damaged from outside: the reader meets a closed channel without an exited event
			}
			off += int64(len(line))
			if e.Seq <= after {
				continue
			}
			e.Metadata = meta
			select {
			case ch <- e:
			case <-ctx.Done():
				return
			case <-quit:
				return
			}
		}
		if done {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-quit:
			return
		}
	}
}
