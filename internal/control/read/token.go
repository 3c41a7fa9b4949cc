package read

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

const (
	tokensMost = 1024
	// tokensFor is how long a token that was found lets in without asking again; another node may have replaced it.
	tokensFor = 30 * time.Second
)

// tokenCache remembers tokens that were found, by hash. Wrong secrets are never remembered: they would fill it.
type tokenCache struct {
	mu    sync.Mutex
	found map[string]seenToken
}

type seenToken struct {
	token fairlead.Token
	at    time.Time
}

// HashToken is what is stored of a secret: the hex SHA-256 of its 32 random bytes' text.
func HashToken(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Token finds the token of a secret, nil if there is none. Secrets are compared by their hashes only, in an index: how
// long that takes says nothing about a secret.
func (r *Reader) Token(ctx context.Context, secret string) (*fairlead.Token, error) {
	hash := HashToken(secret)
	now := r.db.Now()
	if t, ok := r.tokens.get(hash, now); ok {
		return &t, nil
	}
	t, err := ask(ctx, r, "authenticate", func(tx *store.ReadTx) (*fairlead.Token, error) { return tx.TokenByHash(hash) })
	if err == nil && t != nil {
		r.tokens.put(hash, *t, now)
	}
	return t, err
}

// ForgetTokens makes the next question ask the database: a command that changes tokens calls it after its commit.
func (r *Reader) ForgetTokens() {
	r.tokens.mu.Lock()
	defer r.tokens.mu.Unlock()
	r.tokens.found = nil
}

func (c *tokenCache) get(hash string, now time.Time) (fairlead.Token, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.found[hash]
	if ok && now.Sub(s.at) > tokensFor {
		delete(c.found, hash)
		ok = false
	}
	return s.token, ok
}

func (c *tokenCache) put(hash string, t fairlead.Token, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.found == nil || len(c.found) >= tokensMost {
		c.found = make(map[string]seenToken)
	}
	c.found[hash] = seenToken{t, now}
}
