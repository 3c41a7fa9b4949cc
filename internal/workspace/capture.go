package workspace

import (
	"fmt"
	"sync"
)

// Capture keeps the beginning and the end of what is written to it, within a limit, and counts the rest. It is safe
// for parallel use and never fails.
type Capture struct {
	mu    sync.Mutex
	half  int
	head  []byte
	tail  []byte // ring once it is full
	next  int
	total int64
}

// NewCapture keeps at most limit bytes: half of them from the beginning, half from the end.
func NewCapture(limit int) *Capture { return &Capture{half: max(1, limit/2)} }

// Write takes everything.
func (c *Capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	c.total += int64(n)
	if room := c.half - len(c.head); room > 0 {
		k := min(room, len(p))
		c.head = append(c.head, p[:k]...)
		p = p[k:]
	}
	if len(p) > c.half {
		p = p[len(p)-c.half:]
	}
	for len(p) > 0 {
		if len(c.tail) < c.half {
			k := min(c.half-len(c.tail), len(p))
			c.tail = append(c.tail, p[:k]...)
			p = p[k:]
			continue
		}
		k := copy(c.tail[c.next:], p)
		c.next = (c.next + k) % c.half
		p = p[k:]
	}
	return n, nil
}

// Total returns the number of bytes written so far.
func (c *Capture) Total() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// Truncated reports whether something was left out.
func (c *Capture) Truncated() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total > int64(len(c.head)+len(c.tail))
}

// String returns what was kept, with a line that says how much is missing between the two parts.
func (c *Capture) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	tail := string(c.tail[c.next:]) + string(c.tail[:c.next])
	missing := c.total - int64(len(c.head)+len(c.tail))
	if missing <= 0 {
		return string(c.head) + tail
	}
	return string(c.head) + fmt.Sprintf("\n… %d bytes left out …\n", missing) + tail
}
