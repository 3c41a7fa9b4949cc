package agent

import "os"

// Break makes every later write of the track fail, as a full disk does.
func (t *Track) Break() {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	old := t.log.f
	f, err := os.Open(old.Name()) // read only
	if err != nil {
		panic(err)
	}
	t.log.f = f
	old.Close()
}
