package control

import (
	"context"

	"github.com/fairlead/fairlead"
)

// ensureCoordination makes the standing task of an agent with a duty, if the workspace has the workflow for it and the
// agent has none. Doing it again changes nothing.
func (c *Control) ensureCoordination(ctx context.Context, ws, agent string) error {
	needed := false
	err := c.db.Read(ctx, func(tx *storeReadTx) error {
		f, err := c.catalog.Facts(tx, ws)
		if err != nil || !f.Workflows[coordinationWorkflow] || f.Profiles[agent].Duty == "" {
			return err
		}
		id, err := tx.CoordinationTask(ws, agent)
		needed = id == ""
		return err
	})
	if err != nil || !needed {
		return err
	}
	m := Meta{Workspace: ws, Actor: fairlead.Engine(), Op: fairlead.DerivedOp("coordination", ws, agent)}
	_, err = do(ctx, c, m, command{name: "create coordination task"}, func(w *work) (struct{}, error) {
		return struct{}{}, w.createCoordination(agent)
	})
	return err
}

func (w *work) createCoordination(agent string) error {
	if err := w.tx.LockWorkspace(w.meta.Workspace); err != nil {
		return err
	}
	id, err := w.tx.CoordinationTask(w.meta.Workspace, agent)
	if err != nil || id != "" {
		return err
	}
	f, err := w.facts()
	if err != nil {
		return err
	}
	name := f.Profiles[agent].Name
	if name == "" {
		name = agent
	}
	_, err = w.create(taskSpec{task: fairlead.Task{
		Workspace: w.meta.Workspace, Workflow: coordinationWorkflow, Title: "Coordination by " + name, Agent: agent, Coordination: agent,
		Origin: fairlead.OriginManual, Creator: fairlead.Engine(),
	}})
	return err
}

// ensureCoordinations is ensureCoordination for every agent with a duty.
func (c *Control) ensureCoordinations(ctx context.Context, ws string) error {
	var agents []fairlead.AgentProfile
	err := c.db.Read(ctx, func(tx *storeReadTx) (err error) {
		agents, err = tx.ListAgents(ws)
		return err
	})
	if err != nil {
		return err
	}
	for _, a := range agents {
		if a.Duty == "" {
			continue
		}
		if err := c.ensureCoordination(ctx, ws, a.Key); err != nil {
			return err
		}
	}
	return nil
}
