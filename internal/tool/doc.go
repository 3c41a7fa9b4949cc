// Package tool has the tools of agents whose loop runs in the server: files, search and shell in one workspace, and the
// boxes that put sets of tools together and keep some of them back.
//
// It guarantees that files are reached only below the workspace, that a shell's whole process tree is dead when its
// call returns, that results are bounded, that arguments are checked before anything happens, and that what a palette
// withholds is refused where the call arrives.
//
// It must not know tasks, programs or who calls: the tools of the board (the ones that end in _fairlead) implement the
// same port elsewhere.
package tool
