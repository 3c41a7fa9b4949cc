package client

import (
	"bufio"
	"io"
	"strconv"
	"strings"
	"time"
)

// maxLine bounds one line of a stream.
const maxLine = 4 << 20

// frame is one block of a stream. A frame without data tells nothing but where the stream stands.
type frame struct {
	id    string
	event string
	data  string
	retry time.Duration
}

// frames reads a stream block by block; a block that was cut off is dropped, as the standard asks.
type frames struct {
	lines *bufio.Scanner
}

func newFrames(r io.Reader) *frames {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, 64<<10), maxLine)
	return &frames{lines: s}
}

// next returns the next block; io.EOF or another error when the stream broke off.
func (f *frames) next() (frame, error) {
	var out frame
	some := false
	for f.lines.Scan() {
		line := f.lines.Text()
		if line == "" {
			if some {
				out.data = strings.TrimSuffix(out.data, "\n")
				return out, nil
			}
			continue
		}
		some = out.field(line) || some
	}
	if err := f.lines.Err(); err != nil {
		return frame{}, err
	}
	return frame{}, io.EOF
}

// field takes one line; it reports whether the line says something.
func (f *frame) field(line string) bool {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "id":
		f.id = value
	case "event":
		f.event = value
	case "data":
		f.data += value + "\n"
	case "retry":
		ms, err := strconv.Atoi(value)
		if err != nil || ms < 0 {
			return false
		}
		f.retry = time.Duration(ms) * time.Millisecond
	default:
		return false // a comment, or of a later version
	}
	return true
}
