package cli

import (
	"fmt"
	"time"

	"github.com/fairlead/fairlead"
)

// fromNow is a place that is in no log: a stream from there begins with a reset, and what is looked at then is as new as
// what follows.
const fromNow = "0-0"

type taskWatch struct {
	taskRef
	UntilEnd bool `help:"End when the task has ended."`
}

// Run streams the task's events until it is interrupted. With --json each event is one line.
func (c *taskWatch) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	t, err := cl.GetTask(e.ctx, c.Task)
	if err != nil {
		return err
	}
	for ev, err := range cl.Events(e.ctx, fromNow, "task:"+t.ID) {
		if err != nil {
			return err
		}
		if !ev.Reset {
			err = e.event(ev.EventView)
		}
		if err != nil {
			return err
		}
		if !c.UntilEnd || !ev.Reset && ev.Kind != fairlead.EventTaskMoved && ev.Kind != fairlead.EventTaskArchived {
			continue
		}
		if t, err = cl.GetTask(e.ctx, t.ID); err != nil {
			return err
		}
		if t.State == fairlead.StateDone || t.State == fairlead.StateCancelled {
			return nil
		}
	}
	return nil
}

func (e *env) event(v fairlead.EventView) error {
	if e.json {
		return e.line(v)
	}
	_, err := fmt.Fprintf(e.Stdout, "%s  %-20s %s %s %s\n", v.At.Local().Format(time.TimeOnly), v.Kind, v.Actor, v.Run, cut(string(v.Data), 100))
	return err
}

type journalCmd struct {
	taskRef
	Follow bool `help:"Go on with what happens next." short:"f"`
	Lines  bool `help:"JSON lines." name:"jsonl"`
	After  int  `help:"Only after this number."`
}

// Run prints the journal; --json prints one list, --jsonl one record a line.
func (c *journalCmd) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	after, all := int64(c.After), []fairlead.RecordView{}
	pages := func() error {
		for {
			p, err := cl.Journal(e.ctx, c.Task, after, 200)
			if err != nil {
				return err
			}
			for _, r := range p.Items {
				after = r.Seq
				if e.json && !c.Lines && !c.Follow {
					all = append(all, r)
					continue
				}
				if err := c.record(e, r); err != nil {
					return err
				}
			}
			if p.NextCursor == "" {
				return nil
			}
		}
	}
	if err := pages(); err != nil || !c.Follow {
		if err == nil && e.json && !c.Lines {
			return e.print(all)
		}
		return err
	}
	t, err := cl.GetTask(e.ctx, c.Task)
	if err != nil {
		return err
	}
	for ev, err := range cl.Events(e.ctx, fromNow, "task:"+t.ID) {
		if err != nil {
			return err
		}
		_ = ev // whatever happened, the journal says it better
		if err := pages(); err != nil {
			return err
		}
	}
	return nil
}

func (c *journalCmd) record(e *env, r fairlead.RecordView) error {
	if c.Lines || e.json {
		return e.line(r)
	}
	_, err := fmt.Fprintln(e.Stdout, Story(r))
	return err
}
