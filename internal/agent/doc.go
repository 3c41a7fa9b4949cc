// Package agent is the port to agents: how an agent is launched, prompted, watched and stopped, whatever it is made of.
//
// It guarantees that every adapter looks the same from outside: events are normalised and in order, a subscriber that
// names where it stands misses nothing (also after a restart of the server), a slow subscriber delays nobody, tool
// calls are upserts that are closed when their turn ends, usage never falls, and Stop works in every state. The suite
// in agenttest holds each adapter to that. [Spool] and [Recorder] carry those promises, so that an adapter only has to
// translate its protocol.
//
// It must not know tasks, steps, workflows, runs or the database: a caller passes what an agent needs as values and
// ports, and gets its own opaque metadata back on every event.
package agent
