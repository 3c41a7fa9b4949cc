package app

import (
	"context"
	"time"

	"github.com/fairlead/fairlead"
)

// holdGauges show how many holds stand, by kind. A count that cannot be read is shown as -1.
func (a *App) holdGauges() {
	for kind, help := range map[fairlead.HoldKind]string{
		fairlead.HoldAccount:  "Provider accounts that are held by a limit.",
		fairlead.HoldBreaker:  "Agents that are held because they failed again and again.",
		fairlead.HoldCooldown: "Agents that cool down.",
	} {
		a.metrics.Gauge("fairlead_holds_"+string(kind), help, func() float64 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			counts, err := a.control.CountHolds(ctx)
			if err != nil {
				return -1
			}
			return float64(counts[kind])
		})
	}
}
