package control

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"
)

// A record holds at most maxText of data. What is longer stands in the blobs under its hash, and the record keeps the
// ends; which fields were cut, and what of them is elsewhere, is said beside them in "cut".

// whole says where the whole of a cut text is.
type whole struct {
	Length int    `json:"length"` // bytes
	Hash   string `json:"hash"`   // hex SHA-256, the key of the blob
}

// ends is how much of each end of a cut text a record keeps, in bytes.
const ends = maxText / 8

// shorten makes a record's data fit: its longest texts are cut, one after the other, and every other field stays as it
// is, so that whoever looks for a call or an outcome finds it.
func (w *work) shorten(data json.RawMessage) (json.RawMessage, error) {
	if len(data) <= maxText {
		return data, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	cuts := map[string]whole{}
	longest := slices.SortedFunc(maps.Keys(fields), func(a, b string) int { return len(fields[b]) - len(fields[a]) })
	for _, name := range longest {
		if len(data) <= maxText || len(fields[name]) <= 2*ends {
			break
		}
		short, c, err := w.cutText(textOf(fields[name]))
		if err != nil {
			return nil, err
		}
		fields[name], cuts[name] = marshal(short), c
		fields["cut"] = marshal(cuts)
		data = marshal(fields)
	}
	return data, nil
}

// textOf is the text of a JSON string; of any other value it is the JSON itself.
func textOf(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// cutText keeps a text as a blob and returns its ends.
func (w *work) cutText(text string) (string, whole, error) {
	if len(text) <= 2*ends {
		return text, whole{Length: len(text)}, nil
	}
	sum := sha256.Sum256([]byte(text))
	c := whole{Length: len(text), Hash: hex.EncodeToString(sum[:])}
	short := head(text, ends) + fmt.Sprintf("\n… %d of %d bytes left out …\n", len(text)-2*ends, len(text)) + tail(text, ends)
	return short, c, w.tx.PutBlob(c.Hash, text)
}

// head and tail cut on the border of a character.
func head(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func tail(s string, n int) string {
	i := len(s) - n
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return s[i:]
}
