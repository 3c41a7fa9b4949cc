package store

import (
	"math/bits"
	"strconv"
	"sync"
)

// Topic is what a signal asks to look at.
type Topic uint8

// The topics. Events is raised by every committed event.
const (
	TopicEvents Topic = 1 << iota // the event log has a new head
	TopicRuns                     // a run may have become claimable
	TopicTimers                   // an earlier timer was set
	TopicOutbox                   // a trigger for another task waits
	topicAll    Topic = 1<<iota - 1
)

// Signals are one listener's wake-ups. A signal says "look now" and nothing else: it may come late, doubled or, after a
// lost connection, for no reason; the listener reads the truth again.
type Signals struct {
	owner *signals
	c     [4]chan struct{}
}

// C returns the channel of one topic. Signals that nobody has taken yet are one signal.
func (s *Signals) C(t Topic) <-chan struct{} { return s.c[bits.TrailingZeros8(uint8(t))] }

// Close ends the subscription; its channels stay silent.
func (s *Signals) Close() {
	s.owner.mu.Lock()
	defer s.owner.mu.Unlock()
	delete(s.owner.all, s)
}

// Signals subscribes. The first look is the listener's own: signals tell only of what comes after.
func (db *DB) Signals() *Signals { return db.signals.subscribe() }

// signals fans out to the listeners of this process.
type signals struct {
	mu  sync.Mutex
	all map[*Signals]struct{}
}

func newSignals() *signals { return &signals{all: map[*Signals]struct{}{}} }

func (s *signals) subscribe() *Signals {
	l := &Signals{owner: s}
	for i := range l.c {
		l.c[i] = make(chan struct{}, 1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[l] = struct{}{}
	return l
}

// raise never blocks: a listener that has not looked yet will look at this too.
func (s *signals) raise(t Topic) {
	if t == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.all {
		for i, c := range l.c {
			if t&(1<<i) == 0 {
				continue
			}
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
}

// encode and decodeTopic carry topics through a notification.
func (t Topic) encode() string { return strconv.Itoa(int(t)) }

func decodeTopic(s string) Topic {
	n, err := strconv.ParseUint(s, 10, 8)
	if err != nil {
		return topicAll // a neighbour version's word: look at everything
	}
	return Topic(n) & topicAll
}
