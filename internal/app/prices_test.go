package app

import (
	"testing"

	"charm.land/catwalk/pkg/catwalk"
	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
)

func TestPricesAreTheMakersOrAgreedOn(t *testing.T) {
	t.Parallel()
	model := func(id string, in, out, write, read float64) catwalk.Model {
		return catwalk.Model{ID: id, CostPer1MIn: in, CostPer1MOut: out, CostPer1MInCached: write, CostPer1MOutCached: read}
	}
	got := listed([]catwalk.Provider{
		{ID: "shop", Models: []catwalk.Model{model("claude", 9, 9, 0, 0), model("open", 1, 2, 0, 0), model("same", 1, 2, 0, 0), model("plan", 0, 0, 0, 0)}},
		{ID: catwalk.InferenceProviderAnthropic, Models: []catwalk.Model{model("claude", 5, 25, 6.25, 0.5)}},
		{ID: "mall", Models: []catwalk.Model{model("claude", 8, 8, 0, 0), model("open", 3, 4, 0, 0), model("same", 1, 2, 0, 0), model("half", 1, 0, 0, 0)}},
	})
	maker := fairlead.Price{Input: 5_000_000, Output: 25_000_000, CacheRead: 500_000, CacheWrite: 6_250_000}
	flat := func(in, out int64) fairlead.Price {
		return fairlead.Price{Input: in * 1e6, Output: out * 1e6, CacheRead: in * 1e6, CacheWrite: in * 1e6}
	}
	want := map[string]fairlead.Price{
		"anthropic/claude": maker, "claude": maker, "shop/claude": flat(9, 9), "mall/claude": flat(8, 8),
		"shop/open": flat(1, 2), "mall/open": flat(3, 4), "shop/same": flat(1, 2), "mall/same": flat(1, 2), "same": flat(1, 2),
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestOwnPricesGoBeforeTheList(t *testing.T) {
	t.Parallel()
	const known = "claude-opus-4-7"
	if p := prices(nil)[known]; p.Input != 5_000_000 || p.Output != 25_000_000 || p.CacheWrite != 6_250_000 || p.CacheRead != 500_000 {
		t.Errorf("the list says %+v", p)
	}
	own := map[string]fairlead.Price{known: {Input: 1}, "mine": {}}
	got := prices(own)
	if got[known] != own[known] {
		t.Errorf("got %+v, want the own price", got[known])
	}
	if _, known := got["mine"]; !known {
		t.Error("a model that its owner calls free is not known")
	}
}
