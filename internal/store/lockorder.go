package store

import (
	"fmt"
	"slices"
)

// rank is the place of a lock in the one order in which every command takes its locks.
type rank int

const (
	rankOp rank = iota + 1
	rankNode
	rankWorkspace
	rankTask
	rankAgents
	rankRuns
	rankBudgets
	rankHolds
)

var rankNames = map[rank]string{
	rankOp: "operation", rankNode: "node", rankWorkspace: "workspace", rankTask: "task", rankAgents: "agent", rankRuns: "run", rankBudgets: "budget",
	rankHolds: "hold",
}

// many reports whether a command may hold several locks of the rank; they are taken in the order of their ids.
func (r rank) many() bool { return r >= rankAgents }

// lockOrder remembers what a transaction has locked.
type lockOrder struct {
	rank rank
	held map[rank][]string
}

// take records a lock and reports whether it is new; one that is held already may be asked for again at any time. It
// panics on any other order, because two commands that disagree on the order deadlock sooner or later, in production
// and not in a test.
func (o *lockOrder) take(r rank, id string) bool {
	held := o.held[r]
	if slices.Contains(held, id) {
		return false
	}
	switch {
	case r < o.rank:
		panic(fmt.Sprintf("lock order: %s %q after a lock on a %s", rankNames[r], id, rankNames[o.rank]))
	case len(held) > 0 && !r.many():
		panic(fmt.Sprintf("lock order: a second %s, %q after %q", rankNames[r], id, held[0]))
	case len(held) > 0 && id < held[len(held)-1]:
		panic(fmt.Sprintf("lock order: %s %q after %q", rankNames[r], id, held[len(held)-1]))
	}
	if o.held == nil {
		o.held = map[rank][]string{}
	}
	o.rank = r
	o.held[r] = append(held, id)
	return true
}

// made records a row that the transaction has made: nobody else can wait for it in another order.
func (o *lockOrder) made(r rank, id string) {
	if o.held == nil {
		o.held = map[rank][]string{}
	}
	o.rank = max(o.rank, r)
	if i, there := slices.BinarySearch(o.held[r], id); !there {
		o.held[r] = slices.Insert(o.held[r], i, id)
	}
}

// takeAll records several locks of one rank, in the order of their ids, and returns the new ones.
func (o *lockOrder) takeAll(r rank, ids []string) []string {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	ids = slices.Compact(ids)
	return slices.DeleteFunc(ids, func(id string) bool { return !o.take(r, id) })
}
