package workflow

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// reader reads typed values out of nodes and notes what is wrong with them; it goes on after an error, so that one
// save names them all.
type reader struct {
	report      *Report
	expressions int // compiled so far
}

// object is a map whose keys were checked.
type object struct {
	*node
	r    *reader
	path string
}

// object reads a map with the given keys only. An unknown key is an error; the known ones are still read.
func (r *reader) object(n *node, path, what string, keys []string) (object, bool) {
	if !r.want(n, path, what, kindMap) {
		return object{}, false
	}
	for _, p := range n.pairs {
		if !slices.Contains(keys, p.key) {
			r.report.fail(p.pos, join(path, p.key), fmt.Sprintf("unknown key %q in %s", clip(p.key), what), suggest(p.key, keys))
		}
	}
	return object{n, r, path}, true
}

func (r *reader) want(n *node, path, what string, kind nodeKind) bool {
	if n.kind == kind {
		return true
	}
	r.report.fail(n.pos, path, fmt.Sprintf("%s must be %s, not %s", what, kind, n.kind), wanted[kind])
	return false
}

// wanted is the remedy for a value of the wrong kind.
var wanted = map[nodeKind]string{
	kindBool:   "write true or false without quotes",
	kindInt:    "write a whole number without quotes",
	kindString: "write a text; quote what reads like a number",
	kindList:   "write a list, as `[a, b]` or with a dash an entry",
	kindMap:    "write a map, as `{key: value}` or with a key a line",
}

// at returns the node of a key, nil when it is absent or null.
func (o object) at(key string) *node {
	if n := o.get(key); n != nil && n.kind != kindNull {
		return n
	}
	return nil
}

// either returns the node of one of two spellings of a key and its path; naming both is an error.
func (o object) either(key, long string) (*node, string) {
	a, b := o.at(key), o.at(long)
	if a != nil && b != nil {
		o.r.report.fail(b.pos, join(o.path, long), fmt.Sprintf("%q and %q say the same", key, long), "keep one of them")
	}
	if a == nil && b != nil {
		return b, join(o.path, long)
	}
	return a, join(o.path, key)
}

func (o object) sub(key string) string { return join(o.path, key) }

func (o object) str(key string) string {
	n := o.at(key)
	if n == nil {
		return ""
	}
	return o.r.str(n, o.sub(key), key)
}

func (r *reader) str(n *node, path, what string) string {
	if n == nil || !r.want(n, path, what, kindString) {
		return ""
	}
	return n.text()
}

// name reads a key as every named thing has one.
func (r *reader) name(n *node, path, what string) string {
	s := r.str(n, path, what)
	if n != nil && n.kind == kindString && !fairlead.ValidKey(s) {
		r.report.fail(n.pos, path, fmt.Sprintf("%s is not a valid name", what), "use a lower-case letter, then at most 62 of a-z, 0-9, - and _")
		return ""
	}
	return s
}

func (o object) name(key string) string { return o.r.name(o.at(key), o.sub(key), key) }

func (o object) boolean(key string, fallback bool) bool {
	n := o.at(key)
	if n == nil || !o.r.want(n, o.sub(key), key, kindBool) {
		return fallback
	}
	return n.value.(bool)
}

// integer reads a whole number of at least one.
func (o object) integer(key string, fallback int) int {
	n := o.at(key)
	if n == nil || !o.r.want(n, o.sub(key), key, kindInt) {
		return fallback
	}
	v := n.value.(int64)
	if v < 1 || v > math.MaxInt32 {
		o.r.report.fail(n.pos, o.sub(key), fmt.Sprintf("%s must be at least 1", key), "leave it out for the default")
		return fallback
	}
	return int(v)
}

func (o object) duration(key string, least time.Duration) time.Duration {
	n := o.at(key)
	if n == nil {
		return 0
	}
	if n.kind == kindInt && n.value.(int64) == 0 && least == 0 {
		return 0 // nothing has no unit
	}
	if !o.r.want(n, o.sub(key), key, kindString) {
		return 0
	}
	s := n.text()
	d, err := time.ParseDuration(s)
	message := ""
	switch {
	case err != nil:
		message = "is not a duration"
	case d < least:
		message = fmt.Sprintf("must be at least %s", least)
	case d > maxDuration:
		message = "must be at most a year"
	}
	if message != "" {
		o.r.report.fail(n.pos, o.sub(key), key+" "+message, "write for example 5s, 15m or 2h")
		return 0
	}
	return d
}

// maxDuration is a year: more is a mistake of units.
const maxDuration = 366 * 24 * time.Hour

// choice reads one of a few words; "" when it is absent or wrong.
func (o object) choice(key string, words ...string) string {
	return o.r.choice(o.at(key), o.sub(key), key, words...)
}

func (r *reader) choice(n *node, path, what string, words ...string) string {
	s := r.str(n, path, what)
	if n == nil || n.kind != kindString || slices.Contains(words, s) {
		return s
	}
	r.report.fail(n.pos, path, fmt.Sprintf("unknown %s %q", what, clip(s)), suggest(s, words))
	return ""
}

func (r *reader) list(n *node, path, what string) []*node {
	if n == nil || !r.want(n, path, what, kindList) {
		return nil
	}
	return n.list
}

// strings reads a list of texts without expressions.
func (o object) strings(key string) []string {
	var out []string
	for i, n := range o.r.list(o.at(key), o.sub(key), key) {
		path := index(o.sub(key), i)
		if s := o.r.str(n, path, "an entry of "+key); s != "" {
			out = append(out, s)
		} else if n.kind == kindString {
			o.r.report.fail(n.pos, path, "an entry of "+key+" is empty", "write a text or leave it out")
		}
	}
	return out
}

// required notes a missing key at the object's place.
func (o object) required(key, what, remedy string) bool {
	if o.at(key) != nil {
		return true
	}
	o.r.report.fail(o.pos, o.sub(key), fmt.Sprintf("%s needs `%s`", what, key), remedy)
	return false
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + clip(key)
}

func index(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// clip shortens a name of the file for a message.
func clip(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}
