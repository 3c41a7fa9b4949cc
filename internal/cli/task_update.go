package cli

import (
	"encoding/json"

	"github.com/fairlead/fairlead"
)

type taskUpdate struct {
	taskRef
	Title       *string  `help:"New title."`
	Description *string  `help:"New description; - reads stdin." short:"d"`
	Priority    *string  `help:"urgent, high, medium or low."`
	Agent       *string  `help:"Primary agent; an empty text takes it away."`
	Label       []string `help:"The labels from now on; repeat for more, one empty text for none." short:"l"`
	Require     []string `help:"The requirements from now on; repeat for more." sep:"none"`
	Meta        []string `help:"KEY=VALUE of the metadata; VALUE is JSON or a text, null removes the key. Repeat for more." sep:"none"`
	Version     int64    `help:"Refuse unless the task is still at this version."`
	Op          string   `help:"Operation id."`
}

// Run changes what is named and leaves the rest.
func (c *taskUpdate) Run(e *env) error {
	body := fairlead.TaskPatch{Title: c.Title, Description: c.Description, Agent: c.Agent, Op: fairlead.OpID(c.Op)}
	if c.Description != nil && *c.Description == "-" {
		text, err := e.read("-")
		if err != nil {
			return err
		}
		body.Description = &text
	}
	if c.Priority != nil {
		p := fairlead.Priority(*c.Priority)
		body.Priority = &p
	}
	if c.Label != nil {
		labels := []string{}
		for _, l := range c.Label {
			if l != "" {
				labels = append(labels, l)
			}
		}
		body.Labels = &labels
	}
	if c.Require != nil {
		body.Requirements = &c.Require
	}
	given, err := pairs(c.Meta)
	if err != nil {
		return err
	}
	for k, v := range given {
		if body.Metadata == nil {
			body.Metadata = map[string]any{}
		}
		var value any
		if json.Unmarshal([]byte(v), &value) != nil {
			value = v
		}
		body.Metadata[k] = value
	}
	cl, err := e.client()
	if err != nil {
		return err
	}
	if c.Version > 0 {
		cl = cl.IfVersion(c.Version)
	}
	return e.taskView(cl.UpdateTask(e.ctx, c.Task, body))
}
