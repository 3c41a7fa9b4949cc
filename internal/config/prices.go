package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/fairlead/fairlead"
)

// maxPrice bounds a price, in dollars per million tokens: more is a slip of the keyboard.
const maxPrice = 1_000_000

// tariff is what a model costs as people write it: dollars per million tokens. A price of cached input that is missing
// is that of input, which is never too low.
type tariff struct {
	Input      json.Number `json:"input"`
	Output     json.Number `json:"output"`
	CacheRead  json.Number `json:"cache_read,omitempty"`
	CacheWrite json.Number `json:"cache_write,omitempty"`
}

// parsePrices reads prices by model from JSON; "" is none. Whatever it does not understand is an error: a price that is
// read wrongly would let a budget pass.
func parsePrices(v string) (map[string]fairlead.Price, error) {
	out := map[string]fairlead.Price{}
	if v == "" {
		return out, nil
	}
	d := json.NewDecoder(strings.NewReader(v))
	d.DisallowUnknownFields()
	tariffs := map[string]tariff{}
	if err := d.Decode(&tariffs); err != nil {
		return nil, fmt.Errorf("not prices: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one object")
	}
	for _, model := range slices.Sorted(maps.Keys(tariffs)) {
		p, err := tariffs[model].price()
		if err == nil && strings.TrimSpace(model) == "" {
			err = errors.New("no model named")
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", model, err)
		}
		out[model] = p
	}
	return out, nil
}

func (t tariff) price() (p fairlead.Price, err error) {
	if t.Input == "" || t.Output == "" {
		return p, errors.New("input and output are both needed")
	}
	if t.CacheRead == "" {
		t.CacheRead = t.Input
	}
	if t.CacheWrite == "" {
		t.CacheWrite = t.Input
	}
	for _, part := range []struct {
		name string
		text json.Number
		to   *int64
	}{{"input", t.Input, &p.Input}, {"output", t.Output, &p.Output}, {"cache_read", t.CacheRead, &p.CacheRead}, {"cache_write", t.CacheWrite, &p.CacheWrite}} {
		if *part.to, err = millionths(string(part.text)); err != nil {
			return p, fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return p, nil
}

// millionths reads dollars with at most six digits behind the point, without rounding.
func millionths(s string) (int64, error) {
	whole, part, _ := strings.Cut(s, ".")
	if whole == "" || len(whole) > 7 || len(part) > 6 || strings.Trim(whole+part, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not dollars like 2.50", s)
	}
	n, err := strconv.ParseInt(whole+(part + "000000")[:6], 10, 64)
	if err != nil || n > maxPrice*1_000_000 {
		return 0, fmt.Errorf("%q is above %d dollars", s, maxPrice)
	}
	return n, nil
}

// priceText turns the map of prices in the file into the text of its setting.
func priceText(path string, n ast.Node) (string, error) {
	models, ok := pairs(n)
	if !ok {
		return "", bad(path, n.GetToken().Position.Line, "prices must be a map from models to input, output, cache_read and cache_write")
	}
	out := map[string]map[string]json.Number{}
	for _, m := range models {
		model, line := m.Key.GetToken().Value, m.Key.GetToken().Position.Line
		parts, ok := pairs(m.Value)
		if _, twice := out[model]; twice || !ok {
			return "", bad(path, line, "the price of "+model+" must stand here once, as a map of input, output, cache_read and cache_write")
		}
		out[model] = map[string]json.Number{}
		for _, p := range parts {
			key, value := p.Key.GetToken().Value, p.Value.GetToken().Value
			_, twice := out[model][key]
			if _, err := millionths(value); twice || err != nil {
				return "", bad(path, p.Key.GetToken().Position.Line, "the price "+key+" of "+model+" must stand here once, in dollars like 2.50")
			}
			// JSON knows no zeros in front of a number.
			if value = strings.TrimLeft(value, "0"); value == "" || value[0] == '.' {
				value = "0" + value
			}
			out[model][key] = json.Number(strings.TrimSuffix(value, "."))
		}
	}
	var b bytes.Buffer
	if err := json.NewEncoder(&b).Encode(out); err != nil {
		return "", fmt.Errorf("read prices: %w", err)
	}
	return strings.TrimSpace(b.String()), nil
}
