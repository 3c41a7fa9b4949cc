package api

import (
	"encoding/json"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead/fairlead"
)

// completeDocument adds to the OpenAPI document what the framework cannot see, and returns how to write it. It is written
// when somebody asks, once: that takes longer than everything else a server does before it listens.
func completeDocument(doc *huma.OpenAPI) func() ([]byte, error) {
	schemas := doc.Components.Schemas
	event := schemas.Schema(reflect.TypeFor[fairlead.EventView](), true, "")
	runEvents := schemas.Schema(reflect.TypeFor[fairlead.Page[fairlead.RunEventView]](), true, "")
	content(doc, prefix+"/events", "Server-sent events: id is <log epoch>-<position>, event the kind, data an EventView. "+
		"One event of kind reset says that the place asked for is not kept; the stream goes on from its id.",
		map[string]*huma.MediaType{"text/event-stream": {Schema: event}})
	content(doc, prefix+"/runs/{id}/events", "A page, or a stream of RunEventView for those who accept one.",
		map[string]*huma.MediaType{"application/json": {Schema: runEvents}, "text/event-stream": {Schema: runEvents}})
	content(doc, prefix+"/workflows/schema.json", "A JSON Schema.",
		map[string]*huma.MediaType{"application/schema+json": {Schema: &huma.Schema{Type: huma.TypeObject}}})
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Patch, item.Delete} {
			if op != nil {
				secondStatus(op)
			}
		}
	}
	return sync.OnceValues(func() ([]byte, error) { return json.Marshal(doc) })
}

// content says what a streaming route answers with.
func content(doc *huma.OpenAPI, path, description string, media map[string]*huma.MediaType) {
	doc.Paths[path].Get.Responses["200"] = &huma.Response{Description: description, Content: media}
}

// secondStatus adds the second success of the routes that have two.
func secondStatus(op *huma.Operation) {
	var status, description string
	switch op.OperationID {
	case "start-task":
		status, description = "202", "Queued: somebody else works, or a hold is in force"
	case "save-workflow":
		status, description = "200", "The same content stood there already"
	case "get-workflow":
		op.Responses["304"] = &huma.Response{Description: "Not changed"}
		return
	default:
		return
	}
	first := op.Responses["200"]
	if first == nil {
		first = op.Responses["201"]
	}
	op.Responses[status] = &huma.Response{Description: description, Headers: first.Headers, Content: first.Content}
}
