package fairlead

// ActorKind says what kind of being acts.
type ActorKind string

// The four kinds of actors.
const (
	ActorPerson ActorKind = "person"
	ActorAgent  ActorKind = "agent"
	ActorClient ActorKind = "client" // an outside system with its own token
	ActorEngine ActorKind = "engine" // a workflow's own moves, outbox and timers
)

// Actor is who did something. Key is the person's, agent's or client's key ("system" for the engine). Agents act by a
// run on an assignment; both are empty for the others.
type Actor struct {
	Kind       ActorKind `json:"kind"`
	Key        string    `json:"key"`
	Assignment string    `json:"assignment,omitempty"`
	Run        string    `json:"run,omitempty"`
}

// Engine is the actor of everything nobody asked for: outbox, timers, automatic moves.
func Engine() Actor { return Actor{Kind: ActorEngine, Key: "system"} }

// Person returns the actor of a person.
func Person(key string) Actor { return Actor{Kind: ActorPerson, Key: key} }

// OpScope is the part of an operation's identity that tells actors apart: two actors may use the same operation id.
// An agent's scope is its assignment, so that a retry by another run of it finds the first result.
func (a Actor) OpScope() string {
	if a.Kind == ActorAgent && a.Assignment != "" {
		return "assignment:" + a.Assignment
	}
	return string(a.Kind) + ":" + a.Key
}

func (a Actor) String() string { return string(a.Kind) + ":" + a.Key }

// Automatic reports whether the actor is not a person or an outside client.
func (a Actor) Automatic() bool { return a.Kind == ActorAgent || a.Kind == ActorEngine }
