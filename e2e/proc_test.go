package e2e

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// marked lists the processes that bear the marker of the server's home: agents, their tools, and wardens.
func (s *server) marked() (found []string) {
	mark, err := os.ReadFile(filepath.Join(s.home, "home_id"))
	if err != nil {
		s.t.Fatal(err)
	}
	want := []byte("FAIRLEAD_HOME_ID=" + strings.TrimSpace(string(mark)))
	entries, err := os.ReadDir("/proc")
	if err != nil {
		s.t.Skipf("no /proc to look for processes in: %v", err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(filepath.Join("/proc", e.Name(), "environ"))
		if err != nil {
			continue // ended meanwhile, or another user's
		}
		for _, v := range bytes.Split(env, []byte{0}) {
			if bytes.Equal(v, want) {
				line, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline")) // only to tell it
				found = append(found, e.Name()+" "+strings.ReplaceAll(string(line), "\x00", " "))
			}
		}
	}
	return found
}
