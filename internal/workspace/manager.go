package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/fairlead/fairlead"
)

// Manager keeps the directories that tasks are worked in, below one directory of the home. Everything it does may be
// repeated: a step that was done before is found and kept.
type Manager struct {
	dir     string
	now     func() time.Time
	minFree uint64
	mu      sync.Mutex
	locks   map[string]*sync.Mutex // by identifier and by repository
}

// ManagerOptions change a [Manager]; nil is the default.
type ManagerOptions struct {
	MinFree uint64           // bytes that must be free before a tree is made; default 512 MiB
	Now     func() time.Time // default time.Now
}

// NewManager keeps its trees in dir, which is made when it is first needed.
func NewManager(dir string, opts *ManagerOptions) (*Manager, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("find worktrees: %w", err)
	}
	m := &Manager{dir: abs, now: time.Now, minFree: 512 << 20, locks: map[string]*sync.Mutex{}}
	if opts != nil {
		if opts.MinFree > 0 {
			m.minFree = opts.MinFree
		}
		if opts.Now != nil {
			m.now = opts.Now
		}
	}
	return m, nil
}

// Order says what tree a task needs.
type Order struct {
	Identifier string // of the task, for example FL-12
	Title      string // gives the branch its readable end
	Repository string // path of a local repository; "" is a plain directory
	Base       string // branch, tag or commit to start from; "" is what the repository has checked out
	// Restore is the checkpoint of another node that the tree has to begin from; nil = none.
	Restore *Restore
}

// Tree is a prepared directory.
type Tree struct {
	Identifier string `json:"identifier"`
	Dir        string `json:"dir"`
	Repository string `json:"repository,omitempty"` // "" for a plain directory
	Branch     string `json:"branch,omitempty"`
	Base       string `json:"base,omitempty"`   // as it was ordered, else the branch it was made from
	Commit     string `json:"commit,omitempty"` // where the branch began
	GitDir     string `json:"git_dir,omitempty"`
	Common     string `json:"common,omitempty"` // git directory of the repository
	Ready      bool   `json:"ready"`            // handed out at least once

	Last     string            `json:"last,omitempty"`     // head and files of the last checkpoint, see [Manager.Leave]
	Behind   bool              `json:"behind,omitempty"`   // the remote does not have the last checkpoint
	Pushed   map[string]string `json:"pushed,omitempty"`   // commits of checkpoints at the remote, by ref
	Restored string            `json:"restored,omitempty"` // key of the restoration that the tree began from
}

func (t *Tree) at() gitAt { return gitAt{dir: t.Dir, gitDir: t.GitDir} }

var identifierPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)

// Prepare makes the tree of a task, or finds it. Call it before the first run of the task. The branch is
// fairlead/<identifier>-<slug of the title>; a branch of the task that is left from earlier is used again.
func (m *Manager) Prepare(ctx context.Context, o Order) (Tree, error) {
	if err := checkIdentifier(o.Identifier); err != nil {
		return Tree{}, err
	}
	defer m.lock("task " + o.Identifier)()
	t, err := m.load(o.Identifier)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Tree{}, err
	}
	if t.Ready && t.Repository != o.Repository && o.Repository != "" && m.exists(t.Dir) {
		return Tree{}, fairlead.Conflict(fairlead.ReasonExists, "the task has a workspace of another repository").WithOp("prepare workspace").
			WithHint("archive the task's workspace first")
	}
	old := o.Restore != nil && t.Restored != o.Restore.Key // whatever is here is not what the other node had
	if t.Ready && !old && m.healthy(ctx, &t) {
		return t, nil
	}
	if err := m.CheckSpace(); err != nil {
		return Tree{}, err
	}
	if old {
		return m.restored(ctx, t, o)
	}
	if err := m.clear(&t); err != nil {
		return Tree{}, fmt.Errorf("clear half-made workspace: %w", err)
	}
	t = Tree{Identifier: o.Identifier, Dir: m.treeDir(o.Identifier), Repository: o.Repository, Branch: t.Branch, Commit: t.Commit}
	if o.Repository == "" {
		return m.plain(t)
	}
	return m.worktree(ctx, t, o)
}

// Get returns the tree of a task that was prepared before; not_found otherwise.
func (m *Manager) Get(identifier string) (Tree, error) {
	if err := checkIdentifier(identifier); err != nil {
		return Tree{}, err
	}
	t, err := m.load(identifier)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !t.Ready {
		return Tree{}, fairlead.Errorf(fairlead.CodeNotFound, "the task has no workspace")
	}
	return t, err
}

func (m *Manager) plain(t Tree) (Tree, error) {
	if err := os.MkdirAll(t.Dir, 0o750); err != nil {
		return Tree{}, fmt.Errorf("make workspace: %w", err)
	}
	t.Ready = true
	return t, m.save(&t)
}

// healthy reports whether a tree can be worked in as it is.
func (m *Manager) healthy(ctx context.Context, t *Tree) bool {
	if !m.exists(t.Dir) {
		return false
	}
	if t.Repository == "" {
		return true
	}
	if !t.enrolled() {
		return false
	}
	_, err := t.at().git(ctx, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	return err == nil && m.exists(filepath.Join(t.Dir, ".git"))
}

// clear makes room for a tree. What was never handed out holds nobody's work; anything else is put aside.
func (m *Manager) clear(t *Tree) error {
	if t.Dir == "" || !m.exists(t.Dir) {
		return m.unregister(t)
	}
	if t.Ready {
		if _, err := m.putAside(t); err != nil {
			return err
		}
	} else if err := os.RemoveAll(t.Dir); err != nil {
		return err
	}
	return m.unregister(t)
}

func (m *Manager) treeDir(identifier string) string { return filepath.Join(m.dir, identifier) }

func (m *Manager) exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// lock holds a named lock and returns its release.
func (m *Manager) lock(name string) func() {
	m.mu.Lock()
	l := m.locks[name]
	if l == nil {
		l = &sync.Mutex{}
		m.locks[name] = l
	}
	m.mu.Unlock()
	l.Lock()
	return l.Unlock
}

func checkIdentifier(s string) error {
	if identifierPattern.MatchString(s) {
		return nil
	}
	return fairlead.Errorf(fairlead.CodeInvalid, "the identifier cannot name a directory").WithHint("use letters, digits, - and _")
}

// slug turns a title into the readable end of a branch: lower-case letters and digits with single dashes, at most 40
// characters; "" when nothing is left.
func slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 40 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}
