package fairlead

import "strings"

// Worktree says which node has the directory that a task is worked in, where several nodes share a database. The zero
// value is none: whichever node works on the task next makes one.
type Worktree struct {
	Home       string      `json:"home,omitempty"` // see [NodeHome]; only a node of it may work on the task; "" = any
	Node       string      `json:"node,omitempty"` // the one that last told of it
	Host       string      `json:"host,omitempty"`
	Repository bool        `json:"repository,omitempty"` // a git worktree, not a plain directory
	Checkpoint *Checkpoint `json:"checkpoint,omitempty"` // the last one that other nodes can fetch
	Unpushed   string      `json:"unpushed,omitempty"`   // why they cannot fetch a later one; "" = there is none
	// Since is the number of the record by which the work was last let go from a node; what was done in the tree between
	// the checkpoint and it is lost. 0 = never.
	Since int64 `json:"since,omitempty"`
	// Restore says that no node has gone on since: the next one begins from the checkpoint.
	Restore bool `json:"restore,omitempty"`
}

// Checkpoint is a worktree as it was at the end of a run, as a commit at the repository's remote.
type Checkpoint struct {
	Ref    string `json:"ref"` // refs/fairlead/checkpoint/<assignment>
	Commit string `json:"commit"`
	Head   string `json:"head"` // the commit its branch stood on
	Seq    int64  `json:"seq"`  // of its record in the task's journal
	At     Stamp  `json:"at"`
}

// NodeHome is what the ids of all starts of one home have in common: the trees of one start are there for the next.
func NodeHome(node string) string {
	rest := strings.TrimPrefix(node, PrefixNode+"_")
	if i := strings.LastIndexByte(rest, '_'); i > 0 {
		return rest[:i]
	}
	return rest
}
