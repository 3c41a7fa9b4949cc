package api

import "github.com/fairlead/fairlead/internal/control"

// The real control serves every interface the routes ask for.
var _ Control = (*control.Control)(nil)
