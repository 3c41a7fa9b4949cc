package hub

import (
	"context"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
)

// Log is the event log as the hub needs it.
type Log interface {
	// Bounds returns the log's epoch, the oldest position that is kept (0 for an empty log) and the newest (0 for a log
	// that never had one).
	Bounds(ctx context.Context) (epoch string, tail, head int64, err error)
	// EventsAfter returns at most limit events behind position, in order, and the position up to which it has read.
	EventsAfter(ctx context.Context, position int64, limit int) (events []fairlead.Event, upTo int64, err error)
}

// FormatID makes the id of an event for the outside: "<log epoch>-<position>".
func FormatID(epoch string, position int64) string {
	return epoch + "-" + strconv.FormatInt(position, 10)
}

// parseID is the inverse of FormatID. ok is false for an id of another epoch and for anything that is no id at all.
func parseID(epoch, id string) (position int64, ok bool) {
	text, ok := strings.CutPrefix(id, epoch+"-")
	if !ok {
		return 0, false
	}
	position, err := strconv.ParseInt(text, 10, 64)
	return position, err == nil && position >= 0
}
