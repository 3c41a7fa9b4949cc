package workspace

import (
	"context"
	"fmt"
	"strings"
)

// Saved is work that was put where a clean-up cannot reach it.
type Saved struct {
	Ref    string `json:"ref,omitempty"`
	Commit string `json:"commit,omitempty"`
}

// Rescue puts uncommitted work, and commits that are on no remote and not in the base, on the ref
// refs/fairlead/rescue/<identifier>-<time>. It returns the zero value when there is nothing to save. Work that an
// earlier rescue saved is found there and not saved twice.
func (m *Manager) Rescue(ctx context.Context, identifier string) (Saved, error) {
	t, err := m.repo(identifier)
	if err != nil {
		return Saved{}, err
	}
	defer m.lock("task " + identifier)()
	return m.rescue(ctx, &t)
}

func (m *Manager) rescue(ctx context.Context, t *Tree) (Saved, error) {
	s, err := m.snapshot(ctx, t)
	if err != nil {
		return Saved{}, fmt.Errorf("rescue work: %w", err)
	}
	at := t.at()
	if s.same {
		own, err := at.git(ctx, append([]string{"rev-list", "-n", "1", s.head, "--not", "--remotes"}, m.known(ctx, t)...)...)
		if err != nil {
			return Saved{}, fmt.Errorf("rescue work: %w", err)
		}
		if own == "" {
			return Saved{}, nil
		}
	}
	if old, err := m.rescued(ctx, t, s); err != nil || old.Ref != "" {
		return old, err
	}
	commit := s.head
	if !s.same {
		if commit, err = s.commit(ctx, t, "Rescued work of "+t.Identifier); err != nil {
			return Saved{}, fmt.Errorf("rescue work: %w", err)
		}
	}
	ref := "refs/fairlead/rescue/" + t.Identifier + "-" + m.stamp()
	for n := 2; ; n++ { // two rescues within a second
		if _, err := at.git(ctx, "update-ref", ref, commit, ""); err == nil {
			return Saved{Ref: ref, Commit: commit}, nil
		} else if n > 9 {
			return Saved{}, fmt.Errorf("rescue work: %w", err)
		}
		ref = fmt.Sprintf("refs/fairlead/rescue/%s-%s-%d", t.Identifier, m.stamp(), n)
	}
}

// known are the commits that the repository has without the task.
func (m *Manager) known(ctx context.Context, t *Tree) []string {
	out := []string{t.Commit}
	if c, err := t.at().git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", t.Base+"^{commit}"); err == nil && t.Base != "HEAD" {
		out = append(out, c)
	}
	return out
}

// rescued looks for a rescue of exactly this content.
func (m *Manager) rescued(ctx context.Context, t *Tree, s snap) (Saved, error) {
	out, err := t.at().git(ctx, "for-each-ref", "--format=%(refname) %(objectname) %(tree) %(parent)", "refs/fairlead/rescue/"+t.Identifier+"-*")
	if err != nil {
		return Saved{}, fmt.Errorf("list rescues: %w", err)
	}
	for line := range strings.SplitSeq(out, "\n") {
		f := strings.Fields(line)
		if len(f) < 3 || f[2] != s.tree {
			continue
		}
		if f[1] == s.head || !s.same && len(f) == 4 && f[3] == s.head {
			return Saved{Ref: f[0], Commit: f[1]}, nil
		}
	}
	return Saved{}, nil
}
