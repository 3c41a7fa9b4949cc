package control

import (
	"strings"
	"testing"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
	"github.com/fairlead/fairlead/internal/store/storetest"
)

func TestATokenIsShownOnceAndStoredHashed(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		h := newHouse(t, db)
		ctx := t.Context()
		m := owner()
		m.Op = "token-1"
		first, err := h.c.AddToken(ctx, m, fairlead.TokenBody{Client: "ci"})
		h.must(err)
		if len(first.Secret) < 40 {
			t.Fatalf("got secret of %d characters, want 32 random bytes", len(first.Secret))
		}
		second, err := h.c.AddToken(ctx, m, fairlead.TokenBody{Client: "ci"})
		h.must(err)
		if second.ID != first.ID || second.Secret != "" {
			t.Errorf("the command sent again shows %+v; want the same token without its secret", second)
		}
		raw, err := db.Dump(ctx)
		h.must(err)
		if strings.Contains(string(raw), first.Secret) {
			t.Error("the secret stands in the database")
		}
		caller, err := h.again().c.Authenticate(ctx, first.Secret)
		h.must(err)
		want := Caller{Actor: fairlead.Actor{Kind: fairlead.ActorClient, Key: "ci"}, Workspace: mainWorkspace}
		if caller != want {
			t.Errorf("got caller %+v, want %+v", caller, want)
		}
		list, err := h.c.ListTokens(ctx, mainWorkspace)
		h.must(err)
		for _, v := range list {
			if v.Secret != "" {
				t.Error("a list shows a secret")
			}
		}
	})
}

func TestOnlyPeopleMakeTokensPeopleAndWorkspaces(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.SQLite(t).Open(t, nil))
	ctx := t.Context()
	for _, actor := range []fairlead.Actor{{Kind: fairlead.ActorClient, Key: "ci"}, {Kind: fairlead.ActorAgent, Key: "coder", Assignment: "asg_1", Run: "run_1"}} {
		m := Meta{Workspace: mainWorkspace, Actor: actor}
		_, err := h.c.AddToken(ctx, m, fairlead.TokenBody{Person: "owner"})
		refused(t, err, fairlead.CodeForbidden)
		_, err = h.c.AddPerson(ctx, m, fairlead.KeyNameBody{Key: "eve"})
		refused(t, err, fairlead.CodeForbidden)
		_, err = h.c.AddWorkspace(ctx, m, fairlead.KeyNameBody{Key: "lair"})
		refused(t, err, fairlead.CodeForbidden)
	}
	if n := h.audits("add token"); n != 2 {
		t.Errorf("got %d audit rows, want one for each refusal", n)
	}
	_, err := h.c.AddToken(ctx, owner(), fairlead.TokenBody{Person: "nobody"})
	refused(t, err, fairlead.CodeInvalid)
	_, err = h.c.AddToken(ctx, owner(), fairlead.TokenBody{Person: "owner", Client: "ci"})
	refused(t, err, fairlead.CodeInvalid)
	p, err := h.c.AddPerson(ctx, owner(), fairlead.KeyNameBody{Key: "anna"})
	h.must(err)
	if p.Name != "anna" {
		t.Errorf("got name %q, want the key", p.Name)
	}
	_, err = h.c.AddPerson(ctx, owner(), fairlead.KeyNameBody{Key: "anna"})
	refused(t, err, fairlead.CodeConflict)
	_, err = h.c.AddPerson(ctx, owner(), fairlead.KeyNameBody{Key: "Anna"})
	refused(t, err, fairlead.CodeInvalid)
}
