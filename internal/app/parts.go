package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/agent"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/tool"
	"github.com/fairlead/fairlead/internal/worker"
)

// tools puts the tools of one execution together: files and shell in its directory, and the board with the run's
// authority; then keeps back what the agent's palette does not name.
func (a *App) tools(dir string, who worker.Authority) (agent.ToolBox, func(), error) {
	files, err := tool.New(a.launcher, dir, nil)
	if err != nil {
		return nil, nil, err
	}
	release := func() {
		if err := files.Close(); err != nil {
			a.log.Warn("close tools", "error", err)
		}
	}
	board, err := worker.NewBoardTools(a.control, who)
	if err != nil {
		release()
		return nil, nil, err
	}
	box, err := tool.Merge(files, board)
	if err == nil && len(who.Palette) > 0 {
		box, err = tool.Palette(box, who.Palette)
	}
	if err != nil {
		release()
		return nil, nil, fmt.Errorf("make tools: %w", err)
	}
	return box, release, nil
}

// bestAdapter turns an embedded profile into one that can work on this machine. The scripted agent cannot stand in for
// a profile without a script, so the profile stays as it is and its runs fail with a remedy (see noAgent).
func bestAdapter(p fairlead.AgentProfile) fairlead.AgentProfile { return p }

// nodePrefix begins the ids of every node of a home.
func nodePrefix(mark string) string { return fairlead.PrefixNode + "_" + mark + "_" }

func newNodeID(mark string) (string, error) {
	var s fairlead.Seed
	if _, err := rand.Read(s[:]); err != nil {
		return "", fmt.Errorf("make node id: %w", err)
	}
	_, id, _ := strings.Cut(fairlead.NewID(fairlead.PrefixNode, time.Now(), s, 0), "_")
	return nodePrefix(mark) + id, nil
}

// eventLog shows the store's event log to the hub.
type eventLog struct{ db *store.DB }

func (l eventLog) Bounds(ctx context.Context) (epoch string, tail, head int64, err error) {
	err = l.db.Read(ctx, func(tx *store.ReadTx) error {
		if tail, err = tx.Tail(); err != nil {
			return err
		}
		head, err = tx.Head()
		return err
	})
	return l.db.LogEpoch(), tail, head, err
}

func (l eventLog) EventsAfter(ctx context.Context, position int64, limit int) ([]fairlead.Event, int64, error) {
	return l.db.EventsAfter(ctx, position, limit, store.EventFilter{})
}
