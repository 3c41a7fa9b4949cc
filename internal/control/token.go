package control

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
)

// tokenMark begins every secret, so that a reader of a log knows what leaked.
const tokenMark = "flt_"

// AddToken makes a token for a person or a client of the workspace. The view's Secret is shown once: neither the token
// nor the result of the command keeps it, so a command that is sent again answers without it.
func (c *Control) AddToken(ctx context.Context, m Meta, body fairlead.TokenBody) (fairlead.TokenView, error) {
	if m.Op == "" {
		m.Op = body.Op
	}
	body.Op = ""
	secret, err := c.newSecret()
	if err != nil {
		return fairlead.TokenView{}, err
	}
	hash := read.HashToken(secret)
	v, err := do(ctx, c, m, command{name: "add token", run: m.Actor.Run, body: body}, func(w *work) (fairlead.TokenView, error) {
		t, err := w.newToken(body, hash)
		if err != nil {
			return fairlead.TokenView{}, err
		}
		_, err = w.tx.InsertToken(&t)
		return read.TokenView(t), err
	})
	if err != nil {
		return v, err
	}
	// Only the first answer of this operation made a token of this secret.
	if t, err := c.Token(ctx, secret); err != nil || t == nil {
		return v, err
	}
	v.Secret = secret
	return v, nil
}

func (w *work) newToken(b fairlead.TokenBody, hash string) (fairlead.Token, error) {
	t := fairlead.Token{ID: w.id(fairlead.PrefixToken), Workspace: w.meta.Workspace, Hash: hash, CreatedAt: w.now}
	if err := w.peopleOnly("tokens"); err != nil {
		return t, err
	}
	if (b.Person == "") == (b.Client == "") {
		return t, invalidField("person", "name exactly one of person and client", "leave the other one out")
	}
	if _, err := w.tx.LoadWorkspace(w.meta.Workspace); err != nil {
		return t, err
	}
	if b.Client != "" {
		t.Kind, t.Key = fairlead.ActorClient, b.Client
		return t, fairlead.CheckKey("client key", b.Client)
	}
	t.Kind, t.Key = fairlead.ActorPerson, b.Person
	f, err := w.facts()
	if err == nil && !f.People[b.Person] {
		err = invalidField("person", "no such person", "list the people with: fairlead person list")
	}
	return t, err
}

// newSecret makes the text of 32 random bytes.
func (c *Control) newSecret() (string, error) {
	var raw [32]byte
	if _, err := io.ReadFull(c.random, raw[:]); err != nil {
		return "", fmt.Errorf("read secret: %w", err)
	}
	return tokenMark + base64.RawURLEncoding.EncodeToString(raw[:]), nil
}

// Authenticate says whom a secret lets in.
func (c *Control) Authenticate(ctx context.Context, secret string) (Caller, error) {
	if secret != "" {
		t, err := c.Token(ctx, secret)
		if err != nil {
			return Caller{}, err
		}
		if t != nil {
			return Caller{Actor: fairlead.Actor{Kind: t.Kind, Key: t.Key}, Workspace: t.Workspace}, nil
		}
	}
	return Caller{}, fairlead.Errorf(fairlead.CodeUnauthenticated, "a valid token is needed").
		WithHint("send Authorization: Bearer TOKEN; the server's own token is in the file token of its home")
}
