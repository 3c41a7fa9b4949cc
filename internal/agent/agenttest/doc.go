// Package agenttest is the conformance suite of the runtime port: an adapter is finished when [Run] passes on it. It
// also checks what the runtime and its adapters import, and has a small [Box] of tools for tests.
//
// It must not know how an adapter works: a [Harness] turns each [Behaviour] into whatever makes its agent behave so.
package agenttest
