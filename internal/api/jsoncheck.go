package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead/fairlead"
)

// maxDepth bounds how deep a body may nest. The deepest body of the contract is a form's answer.
const maxDepth = 64

// checkJSON lets a body pass that means the same to every reader: one JSON value of valid UTF-8 that nests to a bounded
// depth, without a NUL, half a surrogate pair, a number out of range, or two keys of one object that differ in nothing
// or in case alone. Whoever reads a body later, by which library ever, reads what was checked here.
func checkJSON(body []byte) error {
	if !utf8.Valid(body) {
		return badBody(body, invalidAt(body), "is not UTF-8", "encode the body as UTF-8")
	}
	c := &checker{body: body, dec: json.NewDecoder(bytes.NewReader(body))}
	c.dec.UseNumber()
	if err := c.value(0); err != nil {
		return err
	}
	if _, err := c.dec.Token(); !errors.Is(err, io.EOF) {
		return badBody(body, c.dec.InputOffset(), "holds more than one JSON value", "send one object")
	}
	return checkEscapes(body)
}

type checker struct {
	body []byte
	dec  *json.Decoder
}

func (c *checker) value(depth int) error {
	t, err := c.token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Delim:
		if depth >= maxDepth {
			return badBody(c.body, c.dec.InputOffset(), "nests deeper than "+strconv.Itoa(maxDepth)+" levels", "flatten it")
		}
		switch t {
		case '{':
			return c.object(depth + 1)
		case '[':
			return c.array(depth + 1)
		}
		return c.syntax()
	case string:
		return c.text(t)
	case json.Number:
		if _, err := t.Float64(); err != nil {
			return badBody(c.body, c.dec.InputOffset(), "holds a number that is out of range", "send it as a string")
		}
	}
	return nil
}

func (c *checker) array(depth int) error {
	for c.dec.More() {
		if err := c.value(depth); err != nil {
			return err
		}
	}
	_, err := c.token() // the closing bracket
	return err
}

func (c *checker) object(depth int) error {
	seen := map[string]struct{}{}
	for c.dec.More() {
		t, err := c.token()
		if err != nil {
			return err
		}
		key, ok := t.(string)
		if !ok {
			return c.syntax()
		}
		if err := c.text(key); err != nil {
			return err
		}
		folded := fold(key)
		if _, twice := seen[folded]; twice {
			return badBody(c.body, c.dec.InputOffset(), "holds two keys of one object that are equal or differ in case alone", "send each key once")
		}
		seen[folded] = struct{}{}
		if err := c.value(depth); err != nil {
			return err
		}
	}
	_, err := c.token() // the closing brace
	return err
}

func (c *checker) token() (json.Token, error) {
	t, err := c.dec.Token()
	if err != nil {
		return nil, c.syntax()
	}
	return t, nil
}

func (c *checker) syntax() error {
	return badBody(c.body, c.dec.InputOffset(), "is not valid JSON", "check quotes, commas and brackets")
}

func (c *checker) text(s string) error {
	if strings.ContainsRune(s, 0) {
		return badBody(c.body, c.dec.InputOffset(), "holds a NUL character", "remove it")
	}
	return nil
}

// fold maps keys that some reader might take for the same to one text: it is the folding of strings.EqualFold and of
// the standard decoder.
func fold(key string) string {
	return strings.Map(foldRune, key)
}

// checkEscapes refuses half a surrogate pair: a decoder puts another character in its place without a word. The body is
// known to be valid JSON, so a backslash stands in strings only.
func checkEscapes(body []byte) error {
	for i := bytes.IndexByte(body, '\\'); i >= 0 && i+1 < len(body); {
		step := 2
		if body[i+1] == 'u' {
			step = 6
			switch unit := hex4(body, i); {
			case unit >= 0xDC00 && unit <= 0xDFFF:
				return badBody(body, int64(i), "holds half a surrogate pair", "escape the whole character")
			case unit >= 0xD800 && unit <= 0xDBFF:
				if low := hex4(body, i+6); low < 0xDC00 || low > 0xDFFF {
					return badBody(body, int64(i), "holds half a surrogate pair", "escape the whole character")
				}
				step = 12
			}
		}
		next := min(i+step, len(body))
		j := bytes.IndexByte(body[next:], '\\')
		if j < 0 {
			return nil
		}
		i = next + j
	}
	return nil
}

// hex4 reads the escape \uXXXX at i, -1 if none stands there.
func hex4(body []byte, i int) int {
	if i+6 > len(body) || body[i] != '\\' || body[i+1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(body[i+2:i+6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}

func invalidAt(body []byte) int64 {
	for i := 0; i < len(body); {
		r, size := utf8.DecodeRune(body[i:])
		if r == utf8.RuneError && size == 1 {
			return int64(i)
		}
		i += size
	}
	return int64(len(body))
}

// badBody is a 400 that says where and never what.
func badBody(body []byte, offset int64, what, remedy string) error {
	at := min(max(offset, 0), int64(len(body)))
	before := body[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	e := fairlead.Errorf(fairlead.CodeMalformed, "the body %s", what).WithHint("%s", remedy)
	e.Fields = []fairlead.FieldError{{Line: line, Column: column, Message: what, Remedy: remedy}}
	return e
}
