package control

import (
	"context"
	"fmt"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
	"github.com/fairlead/fairlead/internal/workflow"
)

const (
	mainWorkspace = "main"
	ownerPerson   = "owner"
)

// firstWorkflows are the workflows a workspace begins with.
func firstWorkflows() []string { return []string{DefaultWorkflow, "office-default"} }

// SetupOptions say what a server brings to its database.
type SetupOptions struct {
	// OwnerToken is the secret of this home for the person owner; only its hash is stored.
	OwnerToken string
	// Home names the home that the token belongs to: another home's token stays.
	Home string
	// Adapter turns an embedded profile whose adapter is "auto" into one that can work on this machine; nil leaves it.
	Adapter func(fairlead.AgentProfile) fairlead.AgentProfile
}

// Setup makes sure that a server has what it starts with: the workspace main with the person owner, the embedded
// agents and first workflows, and this home's token. What is there already stays as it is, so it may run at every start.
func (c *Control) Setup(ctx context.Context, o SetupOptions) error {
	if o.Home == "" || o.OwnerToken == "" {
		return fairlead.Errorf(fairlead.CodeInvalid, "setup needs a home and its token").WithOp("set up")
	}
	hash := read.HashToken(o.OwnerToken)
	done, err := c.isSetUp(ctx, hash)
	if err != nil || done {
		return err
	}
	m := Meta{Workspace: mainWorkspace, Actor: fairlead.Engine()}
	_, err = do(ctx, c, m, command{name: "set up"}, func(w *work) (struct{}, error) {
		ws := fairlead.Workspace{Key: mainWorkspace, Name: "Main", Prefix: prefixOf(mainWorkspace), CreatedAt: w.now}
		if _, err := w.furnishWorkspace(ws, fairlead.Person(ownerPerson), o.Adapter); err != nil {
			return struct{}{}, err
		}
		if err := w.tx.ReplaceHomeTokens(o.Home, hash); err != nil {
			return struct{}{}, err
		}
		t := fairlead.Token{
			ID: w.id(fairlead.PrefixToken), Kind: fairlead.ActorPerson, Key: ownerPerson, Hash: hash, Home: o.Home, CreatedAt: w.now,
		}
		_, err := w.tx.InsertToken(&t)
		w.tx.AfterCommit(w.c.ForgetTokens)
		return struct{}{}, err
	})
	return err
}

func (c *Control) isSetUp(ctx context.Context, hash string) (done bool, err error) {
	err = c.db.Read(ctx, func(tx *storeReadTx) error {
		t, err := tx.TokenByHash(hash)
		if err != nil || t == nil {
			return err
		}
		_, err = tx.LoadWorkspace(mainWorkspace)
		done = err == nil
		if fairlead.IsCode(err, fairlead.CodeNotFound) {
			err = nil
		}
		return err
	})
	return done, err
}

// furnishWorkspace makes a workspace with all that it begins with; fresh false says that it is there and was left alone.
func (w *work) furnishWorkspace(ws fairlead.Workspace, by fairlead.Actor, adapt func(fairlead.AgentProfile) fairlead.AgentProfile) (fresh bool, err error) {
	if fresh, err = w.tx.InsertWorkspace(&ws); err != nil || !fresh {
		return fresh, err
	}
	names := workflow.Names{Agents: map[string]bool{}, Duties: map[string]bool{}, People: map[string]bool{}, Programs: programNames()}
	people := []string{ownerPerson}
	if by.Kind == fairlead.ActorPerson && by.Key != ownerPerson {
		people = append(people, by.Key)
	}
	for _, key := range people {
		p := fairlead.PersonRecord{Workspace: ws.Key, Key: key, Name: key, CreatedAt: w.now}
		if _, err := w.tx.InsertPerson(&p); err != nil {
			return fresh, err
		}
		names.People[key] = true
	}
	for _, t := range workflow.Profiles() {
		p, report := workflow.ParseAgent(t.Source)
		if err := report.Err(); err != nil {
			return fresh, fmt.Errorf("read profile %s: %w", t.Key, err)
		}
		if adapt != nil {
			p = adapt(p)
		}
		p.Workspace = ws.Key
		if err := w.putAgent(&p); err != nil {
			return fresh, err
		}
		names.Agents[p.Key] = true
	}
	return fresh, w.firstVersions(ws.Key, names)
}

// firstVersions saves the workflows a workspace begins with.
func (w *work) firstVersions(workspace string, names workflow.Names) error {
	caller := w.meta.Workspace
	w.meta.Workspace = workspace
	defer func() { w.meta.Workspace = caller }()
	for _, key := range firstWorkflows() {
		d, report := workflow.Compile(workflow.TemplateSource(key), names)
		if err := report.Err(); err != nil {
			return fmt.Errorf("compile template %s: %w", key, err)
		}
		d.Version = 1
		if _, err := w.insertWorkflow(d); err != nil {
			return err
		}
	}
	return w.workspaceChanged()
}

// programNames are the programs that steps may name.
func programNames() map[string]bool {
	names := map[string]bool{}
	for _, p := range workflow.Programs() {
		names[p.Kind+":"+p.Name] = true
	}
	return names
}
