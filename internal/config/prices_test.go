package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead/fairlead"
)

func TestPricesOfTheFile(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write(t, home, "prices:\n  big: {input: 2.50, output: 10, cache_read: 0.25, cache_write: 3.125}\n  maker/small:\n    input: .5\n    output: 0\n")
	if _, err := Load(Sources{Flags: map[string]string{"home": home}}); err == nil {
		t.Fatal("a price without a digit before its point was accepted")
	}
	write(t, home, "prices:\n  big: {input: 2.50, output: 10, cache_read: 0.25, cache_write: 3.125}\n  maker/small:\n    input: 0.5\n    output: 0\n")
	c, err := Load(Sources{Flags: map[string]string{"home": home}})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]fairlead.Price{
		"big":         {Input: 2_500_000, Output: 10_000_000, CacheRead: 250_000, CacheWrite: 3_125_000},
		"maker/small": {Input: 500_000, Output: 0, CacheRead: 500_000, CacheWrite: 500_000},
	}
	if d := cmp.Diff(want, c.Prices); d != "" {
		t.Error(d)
	}
	if !strings.HasPrefix(source(c, "prices"), "file ") {
		t.Errorf("source: got %q", source(c, "prices"))
	}
}

func TestPricesFailClosed(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"not a map":     "prices: 5\n",
		"no parts":      "prices: {big: 5}\n",
		"no output":     "prices: {big: {input: 1}}\n",
		"no input":      "prices: {big: {output: 1}}\n",
		"unknown part":  "prices: {big: {input: 1, output: 1, cached: 1}}\n",
		"negative":      "prices: {big: {input: -1, output: 1}}\n",
		"a word":        "prices: {big: {input: cheap, output: 1}}\n",
		"too fine":      "prices: {big: {input: 0.0000001, output: 1}}\n",
		"too much":      "prices: {big: {input: 1000001, output: 1}}\n",
		"an exponent":   "prices: {big: {input: 1e3, output: 1}}\n",
		"not a number":  "prices: {big: {input: .nan, output: 1}}\n",
		"a list":        "prices: {big: {input: [1], output: 1}}\n",
		"no model":      "prices: {\"\": {input: 1, output: 1}}\n",
		"a model twice": "prices:\n  big: {input: 1, output: 1}\n  big: {input: 2, output: 1}\n",
		"a part twice":  "prices:\n  big: {input: 1, input: 2, output: 1}\n",
	} {
		home := t.TempDir()
		write(t, home, text)
		if _, err := Load(Sources{Flags: map[string]string{"home": home}}); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%s: got %v, want invalid", name, err)
		}
	}
	for _, text := range []string{`{"big":{"input":1,"output":1}} {}`, `[]`, `{"big":{"input":"1e9","output":1}}`} {
		if _, err := Load(Sources{Flags: map[string]string{"home": t.TempDir()}, Environ: []string{"FAIRLEAD_PRICES=" + text}}); !fairlead.IsCode(err, fairlead.CodeInvalid) {
			t.Errorf("%s: got %v, want invalid", text, err)
		}
	}
}
