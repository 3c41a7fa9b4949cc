package app

import (
	"maps"
	"math"
	"slices"

	"charm.land/catwalk/pkg/catwalk"
	"charm.land/catwalk/pkg/embedded"

	"github.com/fairlead/fairlead"
)

// makers are the providers whose price of a model goes before that of others who sell the same model, in this order.
func makers() []catwalk.InferenceProvider {
	return []catwalk.InferenceProvider{
		catwalk.InferenceProviderAnthropic, catwalk.InferenceProviderOpenAI, catwalk.InferenceProviderGemini, catwalk.InferenceProviderXAI,
		catwalk.InferenceProviderDeepSeek, catwalk.InferenceProviderZAI, catwalk.InferenceProviderMoonshot, catwalk.InferenceProviderMiniMax,
	}
}

// prices is the list of the program with the settings' own prices over it. Every model stands in it as provider/model;
// under its bare name stands the price of its maker, or the one price on which all who sell it agree.
func prices(own map[string]fairlead.Price) map[string]fairlead.Price {
	out := listed(embedded.GetAll())
	maps.Copy(out, own)
	return out
}

func listed(all []catwalk.Provider) map[string]fairlead.Price {
	out, first := map[string]fairlead.Price{}, makers()
	bare, rank, open := map[string]fairlead.Price{}, map[string]int{}, map[string]bool{}
	for i := range all {
		p := &all[i]
		r := slices.Index(first, p.ID)
		if r < 0 {
			r = len(first)
		}
		for j := range p.Models {
			m := &p.Models[j]
			price, known := priceOf(m)
			if !known {
				continue
			}
			out[string(p.ID)+"/"+m.ID] = price
			had, seen := rank[m.ID]
			switch {
			case !seen || r < had:
				bare[m.ID], rank[m.ID], open[m.ID] = price, r, false
			case r == had && bare[m.ID] != price:
				open[m.ID] = true
			}
		}
	}
	for id, price := range bare {
		// Where sellers disagree the name alone does not say the price, and a guess would be a wrong bill. A name that is
		// some provider's full one stays what it is.
		if _, full := out[id]; !full && !open[id] {
			out[id] = price
		}
	}
	return out
}

// priceOf reads a model of the list, which writes 0 for what it does not know: also for plans that are paid by the month.
// Cached input without a price of its own costs what input costs, which is never too low. In the list "in cached" is
// what is written to a cache and "out cached" what is read from one.
func priceOf(m *catwalk.Model) (p fairlead.Price, known bool) {
	if !(m.CostPer1MIn > 0 && m.CostPer1MOut > 0) {
		return p, false
	}
	p = fairlead.Price{
		Input: dollars(m.CostPer1MIn), Output: dollars(m.CostPer1MOut), CacheRead: dollars(m.CostPer1MOutCached), CacheWrite: dollars(m.CostPer1MInCached),
	}
	if p.CacheRead <= 0 {
		p.CacheRead = p.Input
	}
	if p.CacheWrite <= 0 {
		p.CacheWrite = p.Input
	}
	return p, true
}

// dollars turns dollars into millionths of one, at least one for what costs anything.
func dollars(d float64) int64 {
	if !(d > 0) {
		return 0
	}
	return int64(max(1, math.Round(min(d, 1_000_000)*1_000_000)))
}
