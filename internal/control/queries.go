package control

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/control/read"
)

// Meta is what every write command carries beside its body.
type Meta struct {
	Workspace string
	Actor     fairlead.Actor
	// Op makes the command safe to send again; "" = made at the edge, before the first try.
	Op fairlead.OpID
	// Fingerprint tells two commands under one Op apart; "" = made from the command.
	Fingerprint string
	// IfVersion is the version the caller has seen (If-Match); 0 = whatever stands there.
	IfVersion int64
	// Fence proves that an agent still acts under the claim it was started with. Set for agents only.
	Fence *fairlead.Fence
}

// Caller is whom a token lets in. Workspace "" = every workspace.
type Caller struct {
	Actor     fairlead.Actor
	Workspace string
}

// The queries are the read side's own.
type (
	TaskQuery    = read.TaskQuery
	RunQuery     = read.RunQuery
	RequestQuery = read.RequestQuery
)
