package workspace_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fairlead/fairlead/internal/workspace"
)

func TestCaptureKeepsBothEnds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(2, 40).Draw(t, "limit")
		parts := rapid.SliceOf(rapid.StringMatching(`[a-z]{0,30}`)).Draw(t, "parts")
		c := workspace.NewCapture(limit)
		for _, p := range parts {
			if n, err := c.Write([]byte(p)); n != len(p) || err != nil {
				t.Fatalf("got %d, %v", n, err)
			}
		}
		all, half := strings.Join(parts, ""), limit/2
		got := c.String()
		if len(all) <= 2*half {
			if got != all || c.Truncated() {
				t.Fatalf("got %q, want %q", got, all)
			}
			return
		}
		if !strings.HasPrefix(got, all[:half]) || !strings.HasSuffix(got, all[len(all)-half:]) || !c.Truncated() {
			t.Fatalf("got %q of %q", got, all)
		}
		if c.Total() != int64(len(all)) {
			t.Fatalf("got total %d", c.Total())
		}
	})
}
