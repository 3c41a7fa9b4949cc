package api

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
)

// configure turns the framework's three process-wide knobs, once, before the first server is made: arrays are never
// null, a field's name is matched letter by letter, and errors are ours.
var configure = sync.OnceFunc(func() {
	huma.DefaultArrayNullable = false
	huma.ValidateStrictCasing = true
	huma.NewError = frameworkError
	huma.NewErrorWithContext = func(_ huma.Context, status int, msg string, errs ...error) huma.StatusError {
		return frameworkError(status, msg, errs...)
	}
})

// newConfig is a configuration without pages that load from elsewhere and without schema links in bodies.
func newConfig() huma.Config {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	registry.RegisterTypeAlias(reflect.TypeFor[fairlead.Stamp](), reflect.TypeFor[time.Time]())
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title:       "Fairlead",
				Version:     "1",
				Description: "Runs work through workflows that AI agents, code and people share.",
			},
			Components: &huma.Components{
				Schemas: registry,
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"token": {Type: "http", Scheme: "bearer", Description: "The token of a person or a client."},
				},
			},
			Security: []map[string][]string{{"token": {}}},
		},
		Formats:                      map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
	}
}

// frameworkError turns the framework's complaints about a request into ours, without the values it complains about.
func frameworkError(status int, msg string, errs ...error) huma.StatusError {
	switch status {
	case 0: // asked for when the document is written
		return newProblem(http.StatusInternalServerError, fairlead.CodeInternal)
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
	default:
		return newProblem(http.StatusInternalServerError, fairlead.CodeInternal)
	}
	p := newProblem(http.StatusUnprocessableEntity, fairlead.CodeInvalid)
	p.Detail = "the request does not have the shape this route takes"
	p.Hint = "compare it with /openapi.json"
	if len(errs) == 0 {
		p.Detail = msg
	}
	for _, err := range errs {
		p.Errors = append(p.Errors, fieldError(err))
	}
	// The framework walks objects in the order of a map.
	slices.SortStableFunc(p.Errors, func(a, b fairlead.FieldError) int {
		return strings.Compare(a.Path+"\x00"+a.Message, b.Path+"\x00"+b.Message)
	})
	return p
}

const maxPath = 200

func fieldError(err error) fairlead.FieldError {
	var d *huma.ErrorDetail
	if !errors.As(err, &d) {
		return fairlead.FieldError{Message: "not accepted"}
	}
	path := strings.TrimPrefix(strings.TrimPrefix(d.Location, "body"), ".")
	if len(path) > maxPath {
		path = strings.ToValidUTF8(path[:maxPath], "") + "…"
	}
	f := fairlead.FieldError{Path: path, Message: d.Message}
	switch {
	case strings.HasPrefix(d.Message, "json:"), strings.HasPrefix(d.Message, "invalid value:"), strings.Contains(d.Message, "unmarshal"):
		f.Message = "has the wrong type" // the decoder's words repeat the value
	case d.Message == "unexpected property":
		f.Message, f.Remedy = "unknown field", "remove it or correct its name"
	case d.Message == "unknown query parameter":
		f.Remedy = "remove it or correct its name"
	}
	return f
}

// route registers one operation. The route table is made of its calls.
func route[I, O any](a huma.API, method, path, id, summary string, status int, h func(context.Context, *I) (*O, error)) {
	op := huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary, DefaultStatus: status,
		Tags: []string{tagOf(path)},
		// The size and the time of a body are bounded before the framework sees it.
		MaxBodyBytes: -1, BodyReadTimeout: -1,
	}
	huma.Register(a, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := h(ctx, in)
		if err != nil {
			return nil, fail(ctx, err)
		}
		return out, nil
	})
}

// tagOf groups routes by their resource.
func tagOf(path string) string {
	rest := strings.TrimPrefix(path, prefix)
	name, _, _ := strings.Cut(rest, "/")
	return name
}

// fail remembers an error for the log and returns what the caller is shown.
func fail(ctx context.Context, err error) error {
	if c := callOf(ctx); c != nil {
		c.err = err
	}
	return problemOf(err)
}
