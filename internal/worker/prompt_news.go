package worker

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fairlead/fairlead"
)

// news writes what happened since the session's last prompt, as far as it is addressed to this assignment: what others
// wrote, decided, answered and moved.
func news(in promptInput) string {
	var b strings.Builder
	for _, r := range in.Records {
		if line := newsLine(in, r); line != "" {
			fmt.Fprintf(&b, "- [%s] %s\n", r.At.UTC().Format("2006-01-02 15:04"), line)
		}
	}
	return b.String()
}

// recordFields are the fields of the records that prompts show.
type recordFields struct {
	Text    string          `json:"text"`
	Verdict string          `json:"verdict"`
	Note    string          `json:"note"`
	Holder  string          `json:"holder"`
	From    string          `json:"from"`
	To      string          `json:"to"`
	Reason  string          `json:"reason"`
	Task    string          `json:"task"`
	Outcome string          `json:"outcome"`
	Title   string          `json:"title"`
	Prompt  string          `json:"prompt"`
	State   string          `json:"state"`
	Request string          `json:"request"`
	Answer  json.RawMessage `json:"answer"`
	At      fairlead.Stamp  `json:"at"`
	Lost    int             `json:"lost"`
	Commit  string          `json:"commit"`
}

func newsLine(in promptInput, r fairlead.Record) string {
	if mine(in, r) {
		return ""
	}
	var f recordFields
	if err := json.Unmarshal(r.Data, &f); err != nil {
		return ""
	}
	switch r.Kind {
	case fairlead.RecordComment:
		return fmt.Sprintf("%s wrote: %s", r.Actor, quote(f.Text))
	case fairlead.RecordDecision:
		return strings.TrimSpace(fmt.Sprintf("%s: %s %s", f.Holder, f.Verdict, quote(f.Note)))
	case fairlead.RecordMoved:
		if f.From == "" && f.Note == "" {
			return ""
		}
		return strings.TrimSpace(fmt.Sprintf("%s moved the task from %s to %s %s", r.Actor, f.From, f.To, quote(f.Note)))
	case fairlead.RecordRequestResolved:
		return resolved(f)
	case fairlead.RecordTreeReleased:
		return restored(f)
	case fairlead.RecordChildEnded:
		return fmt.Sprintf("the child %s ended: %s", f.Task, f.Outcome)
	case fairlead.RecordBlockerCleared:
		return fmt.Sprintf("the blocker %s is cleared: %s", f.Task, f.Outcome)
	}
	return ""
}

// mine reports whether the record is what this assignment did itself.
func mine(in promptInput, r fairlead.Record) bool {
	return r.Actor.Kind == fairlead.ActorAgent && r.Actor.Key == in.Assignment.Agent && r.Kind != fairlead.RecordMoved
}

func resolved(f recordFields) string {
	var a fairlead.Answer
	if len(f.Answer) > 0 {
		if err := json.Unmarshal(f.Answer, &a); err != nil {
			return ""
		}
	}
	var parts []string
	for _, p := range []string{a.Verdict, a.Option, a.Text, a.Note, string(a.Values)} {
		if p != "" && p != "null" {
			parts = append(parts, p)
		}
	}
	line := "request " + f.Request + " was " + f.State
	if f.Prompt != "" {
		line += " (" + quote(f.Prompt) + ")"
	}
	if len(parts) > 0 {
		line += ": " + strings.Join(parts, " – ")
	}
	return line
}

// restored says what became of a worktree whose node died.
func restored(f recordFields) string {
	if f.Commit == "" {
		return fmt.Sprintf("the node that had the working directory is dead; what was done in it is lost (%d calls of tools): look at what is there, and do again what is missing", f.Lost)
	}
	line := "the node that had the worktree is dead; the worktree is as it was at " + f.At.UTC().Format("2006-01-02 15:04")
	if f.Lost == 0 {
		return line + ", and nothing was done in it since"
	}
	return fmt.Sprintf("%s, and what was done in it since is lost (%d calls of tools): look at what is there, and do again what is missing", line, f.Lost)
}

// quote keeps a text of several lines readable below its bullet.
func quote(s string) string {
	s = strings.TrimSpace(s)
	return strings.ReplaceAll(s, "\n", "\n  ")
}

// failedStory is the transcript of a failed session, as far as a guest has to see it.
func failedStory(records []fairlead.Record) string {
	var b strings.Builder
	for _, r := range records {
		switch r.Kind {
		case fairlead.RecordMessage, fairlead.RecordEffectIntent, fairlead.RecordEffectOutcome, fairlead.RecordTurnEnded:
			fmt.Fprintf(&b, "- %s: %s\n", strings.ReplaceAll(r.Kind, "_", " "), quote(clip(string(r.Data), 600)))
		}
	}
	return b.String()
}

// clip keeps the first n bytes of a text, whole characters only.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}
