package catalog

import (
	"fmt"
	"sync"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
	"github.com/fairlead/fairlead/internal/policy"
	"github.com/fairlead/fairlead/internal/workflow"
)

// Reader is what the catalog reads from a transaction.
type Reader interface {
	Revision(workspace string) (int64, error)
	// Bumped reports that the transaction has raised a revision that nobody else knows yet.
	Bumped() bool
	ListAgents(workspace string) ([]fairlead.AgentProfile, error)
	ListPeople(workspace string) ([]fairlead.PersonRecord, error)
	ListWorkflows(workspace string) ([]fairlead.WorkflowVersion, error) // newest versions
	WorkflowVersion(workspace, key string, version int) (fairlead.WorkflowVersion, error)
	BudgetScopes(workspace string) ([]policy.Budget, error)
}

// Facts are a workspace at one revision. The caller must not change them.
type Facts struct {
	Revision  int64
	Profiles  map[string]fairlead.AgentProfile
	Agents    map[string]engine.AgentRef
	Duties    map[string]string // duty -> agent key; of two agents the smaller key
	People    map[string]bool
	Workflows map[string]bool
	// Budgets says whose spending is limited on which meters: id, scope, ref and meter alone, which never change.
	Budgets []policy.Budget
	newest  map[string]int
}

// Newest returns the newest version number of a workflow, 0 if there is none.
func (f *Facts) Newest(key string) int { return f.newest[key] }

// Names is what a workflow of this workspace may name.
func (f *Facts) Names() workflow.Names {
	n := workflow.Names{
		Agents: make(map[string]bool), Duties: make(map[string]bool), People: f.People, Workflows: f.Workflows,
		Programs: map[string]bool{},
	}
	for key := range f.Agents {
		n.Agents[key] = true
	}
	for duty := range f.Duties {
		n.Duties[duty] = true
	}
	for _, p := range workflow.Programs() {
		n.Programs[p.Kind+":"+p.Name] = true
	}
	return n
}

type versionKey struct {
	workspace, key string
	version        int
}

// Catalog caches facts and definitions. The zero value is ready; it is safe for concurrent use.
type Catalog struct {
	mu          sync.RWMutex
	facts       map[string]*Facts
	definitions map[versionKey]*workflow.Definition
}

// Facts returns the workspace as the transaction sees it.
func (c *Catalog) Facts(tx Reader, workspace string) (*Facts, error) {
	revision, err := tx.Revision(workspace)
	if err != nil {
		return nil, err
	}
	if !tx.Bumped() {
		c.mu.RLock()
		f := c.facts[workspace]
		c.mu.RUnlock()
		if f != nil && f.Revision == revision {
			return f, nil
		}
	}
	f, err := load(tx, workspace, revision)
	if err != nil {
		return nil, fmt.Errorf("load workspace facts: %w", err)
	}
	if tx.Bumped() {
		// The transaction may be rolled back, and its number come again with other content.
		return f, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.facts == nil {
		c.facts = make(map[string]*Facts)
	}
	// An older reader may come late: what it saw must not replace what is newer.
	if old := c.facts[workspace]; old == nil || old.Revision < revision {
		c.facts[workspace] = f
	}
	return f, nil
}

// Recent returns what was last known of a workspace, nil for nothing: a guess at what a transaction will find.
func (c *Catalog) Recent(workspace string) *Facts {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.facts[workspace]
}

// Forget drops the cached facts of a workspace; a command that changes them calls it when its transaction ends.
func (c *Catalog) Forget(workspace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.facts, workspace)
}

func load(tx Reader, workspace string, revision int64) (*Facts, error) {
	f := &Facts{
		Revision: revision, Profiles: make(map[string]fairlead.AgentProfile), Agents: make(map[string]engine.AgentRef),
		Duties: make(map[string]string), People: make(map[string]bool), Workflows: make(map[string]bool), newest: make(map[string]int),
	}
	agents, err := tx.ListAgents(workspace)
	if err != nil {
		return nil, err
	}
	for _, a := range agents {
		f.Profiles[a.Key] = a
		f.Agents[a.Key] = engine.AgentRef{Key: a.Key, Duty: a.Duty, Paused: a.Paused}
		if holder, taken := f.Duties[a.Duty]; a.Duty != "" && (!taken || a.Key < holder) {
			f.Duties[a.Duty] = a.Key
		}
	}
	if f.Budgets, err = tx.BudgetScopes(workspace); err != nil {
		return nil, err
	}
	people, err := tx.ListPeople(workspace)
	if err != nil {
		return nil, err
	}
	for _, p := range people {
		f.People[p.Key] = true
	}
	versions, err := tx.ListWorkflows(workspace)
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		f.Workflows[v.Key] = true
		f.newest[v.Key] = v.Version
	}
	return f, nil
}

// Definition returns a compiled version; version 0 means the newest. A saved version always compiles by itself: what
// it names in the workspace was checked when it was saved and may be gone since.
func (c *Catalog) Definition(tx Reader, workspace, key string, version int) (*workflow.Definition, error) {
	if version == 0 {
		f, err := c.Facts(tx, workspace)
		if err != nil {
			return nil, err
		}
		if version = f.Newest(key); version == 0 {
			return nil, fairlead.Errorf(fairlead.CodeNotFound, "no such workflow").WithHint("list the workflows with: fairlead workflow list")
		}
	}
	k := versionKey{workspace, key, version}
	c.mu.RLock()
	d := c.definitions[k]
	c.mu.RUnlock()
	if d != nil {
		return d, nil
	}
	row, err := tx.WorkflowVersion(workspace, key, version)
	if err != nil {
		return nil, err
	}
	d, report := workflow.Compile([]byte(row.Source), workflow.Names{})
	if err := report.Err(); err != nil {
		return nil, fmt.Errorf("compile saved workflow %s version %d: %w", key, version, err)
	}
	d.Version = version
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.definitions == nil {
		c.definitions = make(map[versionKey]*workflow.Definition)
	}
	// Two callers may have compiled it at once; both see the first one's value from here on.
	if first := c.definitions[k]; first != nil {
		return first, nil
	}
	c.definitions[k] = d
	return d, nil
}
