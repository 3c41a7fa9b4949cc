package workflow

import (
	"errors"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/schedule"
)

// checkCron refuses a line or a zone that no schedule could follow.
func (c *compiler) checkCron(o object, h *Heartbeat) {
	line, zone := o.at("cron"), o.at("zone")
	if line != nil && line.kind == kindString {
		if _, err := schedule.Cron(h.Cron, ""); err != nil {
			c.refuse(line, o.sub("cron"), err)
		}
	}
	if line == nil || zone == nil || zone.kind != kindString {
		return
	}
	if _, err := schedule.Cron("@daily", h.Zone); err != nil || h.Zone == "" {
		c.report.fail(zone.pos, o.sub("zone"), "unknown time zone", "write an IANA name, as Europe/Berlin")
	}
}

// refuse puts what the schedule package says at the place of a value.
func (r *reader) refuse(n *node, path string, err error) {
	var e *fairlead.Error
	if !errors.As(err, &e) {
		e = &fairlead.Error{Message: err.Error()}
	}
	r.report.fail(n.pos, path, e.Message, e.Hint)
}
