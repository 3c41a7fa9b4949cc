package api

import (
	"context"
	"slices"
	"strings"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/hub"
)

// maxTopics bounds how many things one stream may watch.
const maxTopics = 50

// families of events that the named topics stand for, by the part of a kind before the dot.
var families = map[string][]string{
	"board": {"task", "visit", "round", "decision", "comment", "request", "run", "agent", "workflow"},
	"inbox": {"request", "notice"},
	"runs":  {"run", "agent"},
}

// topicFilter makes the filter of a stream: events of the workspace that one of the topics wants; no topic wants all.
// What a run does in mid-turn goes only to who asked for that run or its task, or for everything.
func (s *Server) topicFilter(ctx context.Context, workspace, topics string) (hub.Filter, error) {
	if topics == "" {
		return func(e *fairlead.Event) bool { return e.Workspace == workspace }, nil
	}
	names := strings.Split(topics, ",")
	if len(names) > maxTopics {
		return nil, fairlead.Errorf(fairlead.CodeInvalid, "more than %d topics", maxTopics).WithHint("use board, inbox or runs")
	}
	wants := make([]hub.Filter, 0, len(names))
	for _, name := range names {
		want, err := s.topic(ctx, workspace, strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		wants = append(wants, want)
	}
	return func(e *fairlead.Event) bool {
		return e.Workspace == workspace && slices.ContainsFunc(wants, func(want hub.Filter) bool { return want(e) })
	}, nil
}

func (s *Server) topic(ctx context.Context, workspace, name string) (hub.Filter, error) {
	if ref, ok := strings.CutPrefix(name, "task:"); ok {
		v, err := s.TaskReads.GetTask(ctx, workspace, ref)
		return func(e *fairlead.Event) bool { return e.Task == v.ID }, err
	}
	if ref, ok := strings.CutPrefix(name, "run:"); ok {
		v, err := s.RunReads.GetRun(ctx, workspace, ref)
		return func(e *fairlead.Event) bool { return e.Run == v.ID }, err
	}
	family, ok := families[name]
	if !ok {
		return nil, fairlead.Errorf(fairlead.CodeInvalid, "unknown topic").
			WithHint("use board, inbox, runs, task:ID or run:ID, separated by commas")
	}
	return func(e *fairlead.Event) bool {
		of, _, _ := strings.Cut(string(e.Kind), ".")
		return e.Kind != fairlead.EventRunEventAppended && slices.Contains(family, of)
	}, nil
}
