// Package workflow holds workflow definitions: it parses the YAML with positions, validates and lints it, compiles
// guards and texts, keeps the embedded templates, and compares versions.
//
// It guarantees: a definition that compiles can be decided on without a lookup that fails for a reason of the file
// alone; whatever it cannot understand it refuses, with line, column and a remedy.
//
// It must not know tasks in a database, runs, or how anything is executed.
package workflow
