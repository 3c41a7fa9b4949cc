package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
)

type agentCmd struct {
	List   agentList   `cmd:"" help:"List agents."`
	Show   agentShow   `cmd:"" help:"Show an agent."`
	Apply  agentApply  `cmd:"" help:"Save an agent's profile from a file."`
	Pause  agentPause  `cmd:"" help:"Pause an agent: its runs wait."`
	Resume agentResume `cmd:"" help:"Let a paused agent work again."`
}

type agentList struct{}

func (c *agentList) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	all, err := cl.ListAgents(e.ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, a := range all {
		state := "ready"
		if a.Paused {
			state = "paused"
		}
		rows = append(rows, []string{a.Key, a.Adapter, state, strconv.Itoa(len(a.Live)), strconv.Itoa(a.Queued), a.Duty, a.Name})
	}
	return e.table(all, []string{"agent", "adapter", "state", "live", "queued", "duty", "name"}, rows)
}

type agentKey struct {
	Key string `arg:"" help:"Key of the agent."`
}

// agentView shows the agent that a command returned.
func (e *env) agentView(a fairlead.AgentView, err error) error {
	if err != nil {
		return err
	}
	return e.show(a, func(w io.Writer) {
		fmt.Fprintf(w, "%s  %s  adapter %s, parallel %d, paused: %t %s\n", a.Key, a.Name, a.Adapter, a.Slots(), a.Paused, a.PauseReason)
		fmt.Fprintf(w, "  live: %s, queued: %d\n", strings.Join(a.Live, " "), a.Queued)
	})
}

type agentShow struct{ agentKey }

func (c *agentShow) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.agentView(cl.GetAgent(e.ctx, c.Key))
}

type agentApply struct {
	File string `arg:"" help:"YAML file; - reads stdin."`
}

func (c *agentApply) Run(e *env) error {
	source, err := e.read(c.File)
	if err != nil {
		return err
	}
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.agentView(cl.ApplyAgent(e.ctx, fairlead.AgentBody{Source: source}))
}

type agentPause struct {
	agentKey
	Reason string `help:"Why."`
}

func (c *agentPause) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.agentView(cl.PauseAgent(e.ctx, c.Key, fairlead.PauseBody{Reason: c.Reason}))
}

type agentResume struct{ agentKey }

func (c *agentResume) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	return e.agentView(cl.ResumeAgent(e.ctx, c.Key, fairlead.PauseBody{}))
}

type personCmd struct {
	List personList `cmd:"" default:"1" help:"List people."`
	Add  personAdd  `cmd:"" help:"Add a person."`
}

type personList struct{}

func (c *personList) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	all, err := cl.ListPeople(e.ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, p := range all {
		rows = append(rows, []string{p.Key, p.Name, ago(p.CreatedAt)})
	}
	return e.table(all, []string{"person", "name", "age"}, rows)
}

type keyName struct {
	Key  string `arg:"" help:"Key."`
	Name string `arg:"" optional:"" help:"Name to show."`
}

type personAdd struct{ keyName }

func (c *personAdd) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	p, err := cl.AddPerson(e.ctx, fairlead.KeyNameBody{Key: c.Key, Name: c.Name})
	if err != nil {
		return err
	}
	return e.show(p, func(w io.Writer) { fmt.Fprintf(w, "%s  %s\n", p.Key, p.Name) })
}

type spaceCmd struct {
	List spaceList `cmd:"" default:"1" help:"List workspaces."`
	Add  spaceAdd  `cmd:"" help:"Add a workspace."`
}

type spaceList struct{}

func (c *spaceList) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	all, err := cl.ListWorkspaces(e.ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, s := range all {
		rows = append(rows, []string{s.Key, s.Prefix, s.Name})
	}
	return e.table(all, []string{"workspace", "prefix", "name"}, rows)
}

type spaceAdd struct{ keyName }

func (c *spaceAdd) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	s, err := cl.AddWorkspace(e.ctx, fairlead.KeyNameBody{Key: c.Key, Name: c.Name})
	if err != nil {
		return err
	}
	return e.show(s, func(w io.Writer) { fmt.Fprintf(w, "%s  %s  %s\n", s.Key, s.Prefix, s.Name) })
}

type tokenCmd struct {
	List tokenList `cmd:"" default:"1" help:"List tokens, without their secrets."`
	Add  tokenAdd  `cmd:"" help:"Make a token; its secret is shown once."`
}

type tokenList struct{}

func (c *tokenList) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	all, err := cl.ListTokens(e.ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, t := range all {
		rows = append(rows, []string{t.ID, string(t.Kind), t.Key, ago(t.CreatedAt)})
	}
	return e.table(all, []string{"token", "kind", "for", "age"}, rows)
}

type tokenAdd struct {
	Person string `help:"Person it is for." xor:"for" required:""`
	Client string `help:"Outside system it is for." xor:"for" required:""`
}

func (c *tokenAdd) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	t, err := cl.AddToken(e.ctx, fairlead.TokenBody{Person: c.Person, Client: c.Client})
	if err != nil {
		return err
	}
	return e.show(t, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n", t.Secret)
		fmt.Fprintln(e.Stderr, "This is the only time it is shown.")
	})
}

type nodeCmd struct {
	List nodeList `cmd:"" default:"1" help:"List nodes."`
}

type nodeList struct{}

func (c *nodeList) Run(e *env) error {
	cl, err := e.client()
	if err != nil {
		return err
	}
	all, err := cl.ListNodes(e.ctx)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, n := range all {
		state := "live"
		if n.DeadAt != nil {
			state = "dead"
		}
		rows = append(rows, []string{n.ID, strconv.FormatInt(n.Epoch, 10), state, n.Host, strconv.Itoa(n.PID), strconv.Itoa(n.Slots), ago(n.StartedAt)})
	}
	return e.table(all, []string{"node", "epoch", "state", "host", "pid", "slots", "age"}, rows)
}
