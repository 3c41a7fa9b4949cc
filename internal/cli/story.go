package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// storyFields are what the lines of a story show of a record.
type storyFields struct {
	Title    string            `json:"title"`
	From     string            `json:"from"`
	To       string            `json:"to"`
	Reason   string            `json:"reason"`
	Note     string            `json:"note"`
	Text     string            `json:"text"`
	Round    int               `json:"round"`
	Role     string            `json:"role"`
	Holder   string            `json:"holder"`
	Verdict  string            `json:"verdict"`
	Kind     string            `json:"kind"`
	Prompt   string            `json:"prompt"`
	State    string            `json:"state"`
	Summary  string            `json:"summary"`
	Trigger  string            `json:"trigger"`
	Outcome  string            `json:"outcome"`
	Task     string            `json:"task"`
	Terminal string            `json:"terminal"`
	Tool     string            `json:"tool"`
	Input    json.RawMessage   `json:"input"`
	Output   string            `json:"output"`
	Stop     string            `json:"stop_reason"`
	Class    string            `json:"class"`
	Held     string            `json:"held"`
	Answer   fairlead.Answer   `json:"answer"`
	Failure  *fairlead.Failure `json:"failure"`
	Commit   string            `json:"commit"`
	Pushed   bool              `json:"pushed"`
	Why      string            `json:"why"`
	Host     string            `json:"host"`
	Lost     int               `json:"lost"`
}

// Story writes one record of a journal as a line for people: when, what, by whom.
func Story(r fairlead.RecordView) string {
	var f storyFields
	if err := json.Unmarshal(r.Data, &f); err != nil {
		f = storyFields{Text: string(r.Data)}
	}
	return fmt.Sprintf("%4d  %s  %-18s %s", r.Seq, r.At.Local().Format(time.TimeOnly), who(r.Actor), strings.TrimSpace(tell(r, f)))
}

func who(a fairlead.Actor) string {
	if a.Kind == fairlead.ActorEngine {
		return "Fairlead"
	}
	return a.String()
}

func tell(r fairlead.RecordView, f storyFields) string {
	switch r.Kind {
	case fairlead.RecordCreated:
		return "created the task: " + f.Title
	case fairlead.RecordMoved:
		return told("→ %s", f.To) + told(" (from %s)", f.From) + told(" because of %s", f.Reason) + told(": %s", f.Note) + told(" — the task is %s", f.Terminal)
	case fairlead.RecordVisitEnded:
		return fmt.Sprintf("visit %d ends", r.Visit)
	case fairlead.RecordSeatAdded:
		return f.Holder + " takes a seat as " + f.Role
	case fairlead.RecordSeatRemoved:
		return "a seat is taken away"
	case fairlead.RecordRoundOpened:
		return fmt.Sprintf("round %d opens", f.Round)
	case fairlead.RecordDecision:
		return f.Verdict + told(": %s", cut(f.Note, 160))
	case fairlead.RecordComment:
		return "wrote: " + cut(f.Text, 200)
	case fairlead.RecordWake:
		return "wakes the agent" + told(": %s", f.Reason)
	case fairlead.RecordRequestOpened:
		return "asks (" + f.Kind + "): " + cut(f.Prompt, 160)
	case fairlead.RecordRequestResolved:
		return "request " + f.State + told(": %s", answered(f.Answer))
	}
	return tellRun(r, f)
}

func tellRun(r fairlead.RecordView, f storyFields) string {
	switch r.Kind {
	case fairlead.RecordTurnStarted:
		return "turn starts"
	case fairlead.RecordTurnEnded:
		if f.Failure != nil {
			return "turn fails: " + f.Failure.Error()
		}
		return "turn ends" + told(": %s", f.Stop) + told(" %s", f.Outcome)
	case fairlead.RecordMessage:
		return "says: " + cut(f.Text, 200)
	case fairlead.RecordEffectIntent:
		return "calls " + f.Tool + " " + cut(callText(f.Input), 140)
	case fairlead.RecordEffectOutcome:
		return "  " + told("%s: ", f.Outcome) + cut(f.Output, 140)
	case fairlead.RecordCompleted:
		return "says the step is complete" + told(": %s", f.Summary)
	case fairlead.RecordOwnMove:
		return "wants to move to " + f.To + told(": %s", f.Note)
	case fairlead.RecordDeferred:
		return "put aside: " + f.Trigger
	case fairlead.RecordNotice:
		return "notice " + f.Kind + ": " + cut(f.Text, 160)
	case fairlead.RecordHeld:
		return "held: " + f.Held
	case fairlead.RecordChildEnded, fairlead.RecordBlockerCleared, fairlead.RecordChildCreated:
		return strings.ReplaceAll(r.Kind, "_", " ") + " " + f.Task + told(" (%s)", f.Outcome)
	case fairlead.RecordCheckpoint:
		if !f.Pushed {
			return fmt.Sprintf("leaves the checkpoint %.10s here only", f.Commit) + told(": %s", f.Why)
		}
		return fmt.Sprintf("leaves the checkpoint %.10s, pushed", f.Commit)
	case fairlead.RecordTreeReleased:
		if f.Commit == "" {
			return fmt.Sprintf("lets the work go from %s, to go on with an empty directory; %d calls are lost", f.Host, f.Lost)
		}
		return fmt.Sprintf("lets the work go from %s, to go on from the checkpoint %.10s; %d calls after it are lost", f.Host, f.Commit, f.Lost)
	}
	return strings.ReplaceAll(r.Kind, "_", " ") + told(" %s", cut(f.Text, 120))
}

// callText shows the arguments of a call as a person would write them: a command as such, everything else as JSON.
func callText(input json.RawMessage) string {
	var args map[string]any
	if json.Unmarshal(input, &args) == nil && len(args) == 1 {
		if command, ok := args["command"].(string); ok {
			return command
		}
	}
	return plain(input)
}

func answered(a fairlead.Answer) string {
	var parts []string
	for _, s := range []string{a.Verdict, a.Option, a.Text, a.Note, string(a.Values)} {
		if s != "" && s != "null" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, " – ")
}

// told is a phrase around a text, or nothing where there is no text.
func told(format, text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(format, text)
}

// plain writes JSON without the escapes that are meant for web pages.
func plain(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		return string(raw)
	}
	return b.String()
}
