package control

import (
	"reflect"
	"strings"
	"unicode"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/engine"
)

// effectKind is the name of an effect as programs read it: the type's name in snake case.
func effectKind(e engine.Effect) string {
	var b strings.Builder
	for i, r := range reflect.TypeOf(e).Name() {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// showEffect says in a few fields what an effect does.
func showEffect(e engine.Effect) fairlead.EffectView {
	v := fairlead.EffectView{Kind: effectKind(e)}
	switch e := e.(type) {
	case engine.NewAssignment:
		v.Data = map[string]any{"assignment": e.Assignment.ID, "agent": e.Assignment.Agent, "capacity": e.Assignment.Capacity}
	case engine.Wake:
		v.Data = map[string]any{"assignment": e.Assignment, "agent": e.Agent, "reason": e.Reason}
	case engine.OpenRound:
		v.Data = map[string]any{"round": e.Round}
	case engine.AddSeat:
		v.Data = seatData(e.Seat)
	case engine.RemoveSeat:
		v.Data = map[string]any{"seat": e.Seat}
	case engine.OpenRequest:
		v.Data = map[string]any{"request": e.Request.ID, "kind": e.Request.Kind, "prompt": e.Request.Prompt, "asked_of": e.Request.AskedOf}
	case engine.CloseRequest:
		v.Data = map[string]any{"request": e.Request, "state": e.State, "reason": e.Reason}
	case engine.EndVisit:
		v.Data = map[string]any{"visit": e.N, "reason": e.Reason}
	case engine.BeginVisit:
		v.Data = map[string]any{"visit": e.Visit.N, "step": e.Visit.Step, "workflow": e.Visit.Workflow, "reason": e.Visit.Reason}
	default:
		v.Data = showReach(e)
	}
	return v
}

// showReach shows the effects that change fields of the task or reach out of it.
func showReach(e engine.Effect) map[string]any {
	switch e := e.(type) {
	case engine.CreateChild:
		return map[string]any{"task": e.Task, "workflow": e.Workflow, "title": e.Title, "agent": e.Agent}
	case engine.PauseAgent:
		return map[string]any{"agent": e.Agent, "reason": e.Reason}
	case engine.AddNotice:
		return map[string]any{"notice": e.Kind, "text": e.Text}
	case engine.AddComment:
		return map[string]any{"text": e.Text}
	case engine.SetTask:
		return map[string]any{"add_labels": e.Set.AddLabels, "remove_labels": e.Set.RemoveLabels, "priority": e.Set.Priority, "agent": e.Set.Agent, "metadata": e.Set.Metadata}
	case engine.Notify:
		return map[string]any{"url": e.URL, "text": e.Text}
	case engine.Send:
		return map[string]any{"task": e.Task, "send": e.Kind, "trigger": e.Trigger.Kind}
	case engine.DeferTrigger:
		return map[string]any{"trigger": e.Trigger.Kind}
	case engine.DropDeferred:
		return map[string]any{"deferred": e.Seq, "outcome": e.Outcome}
	case engine.HoldTask:
		return map[string]any{"held": e.Held}
	case engine.Repinned:
		return map[string]any{"version": e.Version}
	case engine.CarryRun:
		return map[string]any{"run": e.Run, "assignment": e.Assignment}
	case engine.Tell:
		return map[string]any{"of": e.Kind, "task": e.Task, "outcome": e.Outcome}
	}
	return nil
}
