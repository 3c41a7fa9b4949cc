package control

import (
	"errors"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// gate looks at everything that a launched run has to pass.
func (s *start) gate(w *work, r *fairlead.Run) (*gate, error) {
	w.tx.Ahead(append(w.gateNeeds(r), store.NeedCheckout(r.Task), store.NeedLive(r.Assignment))...)
	g, err := w.c.gate(&w.tx.ReadTx, w.task.row, *r)
	if err != nil {
		return nil, err
	}
	g.direct, g.inLine = true, true
	if s.reserved {
		n := s.launcher.Node()
		g.node = &n
	}
	return g, nil
}

// busy returns the conflict that keeps the run from being launched here and now, nil for none.
func (s *start) busy(g *gate) (busy, err error) {
	holds, err := g.holds()
	if err != nil {
		return nil, err
	}
	switch {
	case len(holds) > 0:
		return heldBy(holds), nil
	case s.launcher == nil:
		return noWorker(), nil
	case !s.reserved:
		return fairlead.Conflict(fairlead.ReasonBusy, "every slot of this node is taken").
			WithHint("wait for a run to end, or queue the run with if_busy: queue"), nil
	}
	return nil, nil
}

// heldBy is the conflict that names every hold.
func heldBy(holds []fairlead.Hold) error {
	reason := fairlead.ReasonHeld
	var texts []string
	for _, h := range holds {
		texts = append(texts, h.Text)
		if h.Kind == fairlead.HoldCheckout || h.Kind == fairlead.HoldWIP {
			reason = fairlead.ReasonBusy
		}
	}
	e := fairlead.Conflict(reason, "%s", strings.Join(texts, "; "))
	e.Data = map[string]any{"holds": holds}
	return e.WithHint("released when %s; or queue the run with if_busy: queue", holds[0].Release)
}

// elsewhere reports whether the only thing in the way is that another node has to do it: the run then waits there, at
// the head of the queue.
func elsewhere(busy error) bool {
	var e *fairlead.Error
	if !errors.As(busy, &e) {
		return false
	}
	holds, _ := e.Data["holds"].([]fairlead.Hold)
	if len(holds) != 1 {
		return false
	}
	lives, _ := holds[0].Data["live"].(bool)
	return holds[0].Kind == fairlead.HoldNodeLabel || holds[0].Kind == fairlead.HoldWorkspaceOn && lives
}
