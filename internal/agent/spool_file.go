package agent

import (
	"io"
	"os"
	"slices"
)

// lastNewline returns the length of a file up to and including its last newline and cuts what stands behind it: a line
// that a crash left half written.
func lastNewline(f *os.File) (int64, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 4096)
	for end := size; end > 0; {
		n := min(end, int64(len(buf)))
		if _, err := f.ReadAt(buf[:n], end-n); err != nil {
			return 0, err
		}
		for i := n - 1; i >= 0; i-- {
			if buf[i] == '\n' {
				keep := end - n + i + 1
				if keep == size {
					return keep, nil
				}
				return keep, f.Truncate(keep)
			}
		}
		end -= n
	}
	if size == 0 {
		return 0, nil
	}
	return 0, f.Truncate(0)
}

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}
