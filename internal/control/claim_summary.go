package control

import (
	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/store"
)

// Summary is what the agent of a coordination task gets to see of its workspace.
type Summary struct {
	Runs     []SummaryRun
	Requests []SummaryRequest
	Notices  []fairlead.Notice // on the inbox, newest first: failures and what else stands still
	// More says that there are more of one of these than are shown.
	More bool
}

// SummaryRun is a queued or live run of another task.
type SummaryRun struct {
	Task   fairlead.TaskRef
	Title  string
	Agent  string
	Status fairlead.RunStatus
	Reason string
}

// SummaryRequest is a question that is still open.
type SummaryRequest struct {
	ID      string
	Kind    fairlead.RequestKind
	Task    fairlead.TaskRef
	Title   string
	Prompt  string
	AskedOf []string
}

// summaryMost bounds each list of a summary.
const summaryMost = 30

// claimedSummary loads the summary for a coordination task.
func (w *work) claimedSummary(k *Claimed) error {
	if k.Task.Coordination == "" {
		return nil
	}
	s := &Summary{}
	for _, load := range []func(*Summary, string) error{w.summaryRuns, w.summaryRequests, w.summaryNotices} {
		if err := load(s, k.Task.ID); err != nil {
			return err
		}
	}
	k.Summary = s
	return nil
}

func (w *work) summaryRuns(s *Summary, own string) error {
	runs, err := w.tx.ActiveRunsOf(w.meta.Workspace, summaryMost+2) // the own run, and one that tells of more
	if err != nil {
		return err
	}
	for _, r := range runs {
		if r.Task == own {
			continue
		}
		if len(s.Runs) == summaryMost {
			s.More = true
			break
		}
		t, err := w.tx.LoadTask(r.Task)
		if err != nil {
			return err
		}
		s.Runs = append(s.Runs, SummaryRun{Task: *taskRef(&t.Task), Title: t.Title, Agent: r.Agent, Status: r.Status, Reason: r.Reason})
	}
	return nil
}

func (w *work) summaryRequests(s *Summary, _ string) error {
	open, next, err := w.tx.ListRequests(store.RequestFilter{Workspace: w.meta.Workspace, State: string(fairlead.RequestOpen)}, store.Page{Limit: summaryMost})
	if err != nil {
		return err
	}
	s.More = s.More || next != ""
	for _, q := range open {
		r := SummaryRequest{ID: q.ID, Kind: q.Kind, Prompt: q.Prompt, AskedOf: q.AskedOf}
		if q.Task != "" {
			t, err := w.tx.LoadTask(q.Task)
			if err != nil {
				return err
			}
			r.Task, r.Title = *taskRef(&t.Task), t.Title
		}
		s.Requests = append(s.Requests, r)
	}
	return nil
}

func (w *work) summaryNotices(s *Summary, _ string) error {
	open, next, err := w.tx.ListNotices(w.meta.Workspace, true, store.Page{Limit: summaryMost})
	s.Notices, s.More = open, s.More || next != ""
	return err
}
