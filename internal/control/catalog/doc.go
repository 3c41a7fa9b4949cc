// Package catalog keeps what decisions need of a workspace beside the task: its agents, people and compiled workflows.
//
// It guarantees that what it returns belongs to the workspace's revision as read in the caller's transaction; compiled
// definitions are immutable and shared.
//
// It must not know tasks, and it never writes.
package catalog
