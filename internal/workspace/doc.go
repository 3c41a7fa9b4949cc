// Package workspace gives an agent a place to work and a way to die: git worktrees, a jail for file names, and process
// trees under a warden.
//
// It guarantees that a process tree started here ends when it is told to, when its command ends, when the server that
// started it is gone, and when its deadline passes, whatever its members did to get away (setsid, nohup, a cleared
// environment); that a clean-up never deletes work that exists nowhere else; and that a file name never leads out of
// its jail.
//
// It must not know tasks, runs or agents: it is given identifiers and markers as plain text.
package workspace
