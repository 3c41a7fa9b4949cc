package control

import "context"

// CarriedTo returns the assignment a run works on now: the start of its turn may have carried it into another visit.
func (c *Control) CarriedTo(ctx context.Context, run string) (string, error) {
	r, err := c.findRun(ctx, run)
	return r.Assignment, err
}
