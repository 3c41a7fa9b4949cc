package workflow

import (
	_ "embed" // the schema
	"slices"
)

//go:embed workflow.schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of workflow files, as it is published in docs/workflow.schema.json.
// It describes the shape; names, guards and the graph are checked by Compile alone. The caller owns the bytes.
func Schema() []byte { return slices.Clone(schema) }
