package read

import (
	"strconv"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

const (
	// chunk is how many rows are read at once, firstChunk how many before anything is known of their size: a page ends
	// between two chunks.
	chunk      = 20
	firstChunk = 5
	// pageBytes is where a page stops growing, well under the 256 KiB that an answer may have.
	pageBytes = 160 << 10
	// scanMost bounds how many rows a filter that the database cannot apply may look at for one page. A page may then
	// be short, even empty, and still have a next one.
	scanMost = 400
)

// limit is the number of items asked for, within the bounds of a page.
func limit(n int) int {
	if n <= 0 {
		return DefaultLimit
	}
	return min(n, MaxLimit)
}

// listing is how one list fills its page.
type listing[R, V any] struct {
	limit  int
	cursor string
	fetch  func(p store.Page) (rows []R, next string, err error)
	// show makes an item of a row; ok false leaves the row out.
	show func(row *R) (item V, ok bool, err error)
	// size is about how many bytes an item has in JSON; nil = too few to count.
	size func(item *V) int
}

// page reads rows until the page is full, its bytes are used up or there are no more.
func (l listing[R, V]) page() (fairlead.Page[V], error) {
	p := fairlead.Page[V]{Items: []V{}, NextCursor: l.cursor}
	most, bytes, scanned := limit(l.limit), 0, 0
	for {
		rows, next, err := l.fetch(store.Page{Limit: min(rowsAtOnce(len(p.Items), bytes, scanned), most-len(p.Items)), Cursor: p.NextCursor})
		if err != nil {
			return fairlead.Page[V]{}, err
		}
		for i := range rows {
			item, ok, err := l.show(&rows[i])
			if err != nil {
				return fairlead.Page[V]{}, err
			}
			if !ok {
				continue
			}
			p.Items = append(p.Items, item)
			if l.size != nil {
				bytes += l.size(&item)
			}
		}
		p.NextCursor = next
		scanned += len(rows)
		if next == "" || len(p.Items) >= most || bytes >= pageBytes || scanned >= scanMost {
			return p, nil
		}
	}
}

// rowsAtOnce is how many rows to read next, so that a page of heavy items does not go far past its bytes.
func rowsAtOnce(items, bytes, scanned int) int {
	switch {
	case scanned == 0:
		return firstChunk
	case bytes == 0:
		return chunk
	}
	return max(1, min(chunk, (pageBytes-bytes)*items/bytes))
}

// numbered makes a page of rows that are numbered and come oldest first: at most n of them, and no more than a page's
// bytes. One row more than n says that there are others. NextCursor is the number of the last one on the page.
func numbered[R, V any](rows []R, n int, show func(R) (item V, number int64, size int)) fairlead.Page[V] {
	p := fairlead.Page[V]{Items: []V{}}
	bytes := 0
	for i, row := range rows {
		item, number, size := show(row)
		p.Items = append(p.Items, item)
		bytes += size
		if i+1 < len(rows) && (len(p.Items) == n || bytes >= pageBytes) {
			p.NextCursor = strconv.FormatInt(number, 10)
			break
		}
	}
	return p
}

// head cuts a text that would make a list heavy; the object itself shows all of it.
func head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 { // never inside a character
		most--
	}
	return s[:most] + "…"
}
