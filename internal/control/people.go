package control

import (
	"context"
	"strconv"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
)

// nameBytes bounds the names of people and workspaces.
const nameBytes = 200

// AddPerson adds a person to the workspace.
func (c *Control) AddPerson(ctx context.Context, m Meta, body fairlead.KeyNameBody) (fairlead.PersonView, error) {
	if m.Op == "" {
		m.Op = body.Op
	}
	body.Op = ""
	return do(ctx, c, m, command{name: "add person", run: m.Actor.Run, body: body}, func(w *work) (fairlead.PersonView, error) {
		none := fairlead.PersonView{}
		if err := firstOf(w.peopleOnly("people"), checkKeyName("person key", &body)); err != nil {
			return none, err
		}
		if err := w.tx.LockWorkspace(m.Workspace); err != nil {
			return none, err
		}
		p := fairlead.PersonRecord{Workspace: m.Workspace, Key: body.Key, Name: body.Name, CreatedAt: w.now}
		fresh, err := w.tx.InsertPerson(&p)
		if err != nil {
			return none, err
		}
		if !fresh {
			return none, fairlead.Conflict(fairlead.ReasonExists, "there is a person of this key").WithHint("choose another key")
		}
		return read.PersonView(p), w.workspaceChanged()
	})
}

// peopleOnly lets only people through, and the server itself: who may act in a workspace is theirs to say.
func (w *work) peopleOnly(what string) error {
	switch w.meta.Actor.Kind {
	case fairlead.ActorPerson, fairlead.ActorEngine:
		return nil
	}
	return fairlead.Errorf(fairlead.CodeForbidden, "only people may change %s", what).WithHint("ask a person to do it")
}

// checkKeyName checks a key and gives an absent name the key.
func checkKeyName(what string, b *fairlead.KeyNameBody) error {
	if err := fairlead.CheckKey(what, b.Key); err != nil {
		return err
	}
	if b.Name = strings.TrimSpace(b.Name); b.Name == "" {
		b.Name = b.Key
	}
	if len(b.Name) > nameBytes {
		return invalidField("name", "the name is too long", "use at most 200 bytes")
	}
	return nil
}

// AddWorkspace makes a workspace with the person who makes it, the embedded agents (set up as in the workspace main)
// and the workflows every workspace begins with.
func (c *Control) AddWorkspace(ctx context.Context, m Meta, body fairlead.KeyNameBody) (fairlead.WorkspaceView, error) {
	if m.Op == "" {
		m.Op = body.Op
	}
	body.Op = ""
	return do(ctx, c, m, command{name: "add workspace", run: m.Actor.Run, body: body}, func(w *work) (fairlead.WorkspaceView, error) {
		none := fairlead.WorkspaceView{}
		if err := firstOf(w.peopleOnly("workspaces"), checkKeyName("workspace key", &body)); err != nil {
			return none, err
		}
		like := func(p fairlead.AgentProfile) fairlead.AgentProfile {
			if main, err := w.tx.LoadAgent(mainWorkspace, p.Key); err == nil {
				main.Paused, main.PauseReason = false, ""
				return main
			}
			return p
		}
		prefix, err := w.freePrefix(prefixOf(body.Key))
		if err != nil {
			return none, err
		}
		ws := fairlead.Workspace{Key: body.Key, Name: body.Name, Prefix: prefix, CreatedAt: w.now}
		fresh, err := w.furnishWorkspace(ws, m.Actor, like)
		if err != nil {
			return none, err
		}
		if !fresh {
			return none, fairlead.Conflict(fairlead.ReasonExists, "there is a workspace of this key").WithHint("choose another key")
		}
		return read.WorkspaceView(ws), nil
	})
}

// freePrefix adds a number to a prefix that another workspace has: identifiers name directories and branches, so they
// must tell workspaces apart.
func (w *work) freePrefix(base string) (string, error) {
	all, err := w.tx.ListWorkspaces()
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for _, ws := range all {
		taken[ws.Prefix] = true
	}
	prefix := base
	for n := 2; taken[prefix]; n++ {
		prefix = base + strconv.Itoa(n)
	}
	return prefix, nil
}

// prefixOf makes the prefix of identifiers from a key: the first letters of its words, or of its only word.
func prefixOf(key string) string {
	if key == mainWorkspace {
		return "FL"
	}
	words := strings.FieldsFunc(key, func(r rune) bool { return r == '-' || r == '_' })
	var b strings.Builder
	if len(words) == 1 {
		b.WriteString(words[0][:min(3, len(words[0]))])
	}
	for _, word := range words[:min(4, len(words))] {
		if len(words) > 1 {
			b.WriteByte(word[0])
		}
	}
	return strings.ToUpper(b.String())
}
