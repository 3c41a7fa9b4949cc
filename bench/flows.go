package main

// The workflow of the measured moves. Leaving a working step runs its exit action, ends its visit and the run that
// waits there; entering one begins a visit, fixes seats, and queues a run: the whole path of a move.
const benchFlow = `
workflow: bench
name: Bench
start: backlog
steps:
  - {key: backlog, name: Backlog}
  - key: build
    name: Build
    agent: bench-held
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      exit: [{set: {add_labels: [built]}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
  - key: check
    name: Check
    agent: bench-held
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
      exit: [{set: {add_labels: [checked]}}]
      comment: [{queue_run: {to: primary, reason: comment}}]
  - {key: done, name: Done, terminal: done}
`

// talkFlow is worked without end: every comment wakes the agent, and its turn completes nothing.
const talkFlow = `
workflow: bench-talk
name: Talk
start: talk
steps:
  - key: talk
    name: Talk
    agent: bench-quick
    on:
      comment: [{queue_run: {to: primary, reason: comment}}]
  - {key: done, name: Done, terminal: done}
`

// heldAgent is paused: its runs are queued and nobody works on them, so that a move is measured and not a turn.
const heldAgent = "agent: bench-held\nadapter: script\nscript:\n  - do: [{say: nothing}]\n"

// quickAgent says one word and is done.
const quickAgent = "agent: bench-quick\nadapter: script\nscript:\n  - do: [{say: yes}]\n"

// queueFlow queues a run for an agent that has a single slot.
const queueFlow = `
workflow: bench-queue
name: Queue
start: work
steps:
  - key: work
    name: Work
    agent: bench-busy
    on:
      enter: [{queue_run: {to: primary, reason: assigned}}]
  - key: idle
    name: Idle
    agent: bench-busy
  - {key: done, name: Done, terminal: done}
`

// busyAgent has one slot. A task that says so keeps it for ever; any other is done with a word.
const busyAgent = `
agent: bench-busy
adapter: script
parallel: 1
script:
  - when: {prompt: "occupy the slot"}
    do: [{hang: forever}]
  - do: [{say: yes}]
`
