package workflow

import (
	"strings"
	"time"

	"github.com/fairlead/fairlead"
	"github.com/fairlead/fairlead/internal/schedule"
)

var routineKeys = []string{
	"routine", "name", "workflow", "title", "description", "labels", "agent", "priority", "cron", "every", "zone", "missed", "overlap", "webhook",
}

// Bounds of a routine.
const (
	maxTitle     = 500 // bytes, as for any task
	maxLabel     = 100
	minSecret    = 16
	maxSecret    = 200
	minimalEvery = schedule.MinInterval
)

// ParseRoutine reads one routine as `routine apply` takes it. Names that are given (Agents, Workflows) must hold what it
// names; nil ones are not checked. The routine is the zero value if the report has errors.
func ParseRoutine(source []byte, names Names) (fairlead.Routine, *Report) {
	report := &Report{}
	defer report.sort()
	root, bad := readYAML(source)
	if bad != nil {
		report.fail(bad.pos, "", bad.message, bad.remedy)
		return fairlead.Routine{}, report
	}
	r := &routineReader{reader: reader{report: report}, names: names}
	v := r.routine(root)
	if len(report.Errors) > 0 {
		return fairlead.Routine{}, report
	}
	return v, report
}

type routineReader struct {
	reader
	names Names
}

func (r *routineReader) routine(root *node) fairlead.Routine {
	var v fairlead.Routine
	o, ok := r.object(root, "", "the routine", routineKeys)
	if !ok {
		return v
	}
	if o.required("routine", "the routine", "name it, as `routine: weekly-report`") {
		v.Key = o.name("routine")
	}
	if v.Name = o.str("name"); v.Name == "" {
		v.Name = v.Key
	}
	if o.required("workflow", "the routine", "name the workflow of the tasks it makes, as `workflow: errand`") {
		v.Workflow = o.name("workflow")
		r.known(o, "workflow", v.Workflow, r.names.Workflows)
	}
	v.Title = r.title(o)
	v.Description, v.Labels = o.str("description"), r.labels(o)
	v.Agent = o.name("agent")
	r.known(o, "agent", v.Agent, r.names.Agents)
	v.Priority = fairlead.Priority(o.choice("priority", "urgent", "high", "medium", "low"))
	r.when(o, &v)
	v.Missed, v.Overlap = r.missed(o), o.choice("overlap", "skip", "queue", "allow")
	if v.Overlap == "" {
		v.Overlap = string(schedule.OverlapSkip)
	}
	v.Secret = r.secret(o)
	if !v.Scheduled() && o.at("webhook") == nil && len(r.report.Errors) == 0 {
		r.report.fail(o.pos, "", "nothing ever fires the routine", "write `cron`, `every` or `webhook`")
	}
	return v
}

// known refuses a name that the workspace does not have.
func (r *routineReader) known(o object, key, name string, names map[string]bool) {
	if name == "" || names == nil || names[name] {
		return
	}
	r.report.fail(o.at(key).pos, key, "the workspace has no such "+key, "list them with: fairlead "+key+" list")
}

func (r *routineReader) title(o object) string {
	if !o.required("title", "the routine", "say in a few words what is to be done") {
		return ""
	}
	title, n := strings.TrimSpace(o.str("title")), o.at("title")
	switch {
	case n.kind != kindString:
	case title == "":
		r.report.fail(n.pos, "title", "the title is empty", "say in a few words what is to be done")
	case len(title) > maxTitle:
		r.report.fail(n.pos, "title", "the title is too long", "use at most 500 bytes and put the rest into description")
	}
	return title
}

func (r *routineReader) labels(o object) []string {
	labels := o.strings("labels")
	for i, l := range labels {
		if len(l) > maxLabel || strings.ContainsAny(l, "\n\r\t") {
			r.report.fail(o.at("labels").pos, index("labels", i), "not a label", "use 1 to 100 characters on one line")
		}
	}
	return labels
}

// when reads the schedule, of which there may be none.
func (r *routineReader) when(o object, v *fairlead.Routine) {
	v.Cron, v.Zone = o.str("cron"), o.str("zone")
	if d := o.duration("every", minimalEvery); d > 0 {
		v.Every = d.Truncate(time.Millisecond).String()
	}
	cron, every, zone := o.at("cron"), o.at("every"), o.at("zone")
	if cron != nil && every != nil {
		r.report.fail(every.pos, "every", "a routine has not both cron and every", "keep one of them")
	}
	if zone != nil && cron == nil {
		r.report.fail(zone.pos, "zone", "a zone counts only with cron", "leave it out")
	}
	if cron == nil || cron.kind != kindString || zone != nil && zone.kind != kindString {
		return
	}
	if _, err := schedule.Cron(v.Cron, ""); err != nil {
		r.refuse(cron, "cron", err)
		return
	}
	if _, err := schedule.Cron(v.Cron, v.Zone); err != nil {
		r.refuse(zone, "zone", err)
	}
}

func (r *routineReader) missed(o object) string {
	p, err := schedule.ParsePolicy(o.str("missed"))
	if err != nil {
		r.refuse(o.at("missed"), "missed", err)
	}
	return p.String()
}

// secret reads what signs the fires of clients.
func (r *routineReader) secret(o object) string {
	n := o.at("webhook")
	if n == nil {
		return ""
	}
	w, ok := r.object(n, "webhook", "webhook", []string{"secret"})
	if !ok || !w.required("secret", "webhook", "write a secret that the sender knows too") {
		return ""
	}
	s := w.str("secret")
	if x := w.at("secret"); x.kind == kindString && (len(s) < minSecret || len(s) > maxSecret) {
		r.report.fail(x.pos, "webhook.secret", "the secret must have 16 to 200 bytes", "make one with: openssl rand -hex 32")
	}
	return s
}

// RoutineSchedule returns when a routine fires and what becomes of missed occurrences. ok is false if only people and
// clients fire it. A routine that [ParseRoutine] accepted has no error.
func RoutineSchedule(v *fairlead.Routine) (s schedule.Schedule, p schedule.Policy, ok bool, err error) {
	if p, err = schedule.ParsePolicy(v.Missed); err != nil || !v.Scheduled() {
		return s, p, false, err
	}
	s, err = scheduleOf(v.Cron, v.Zone, v.Every)
	return s, p, true, err
}

// Schedule returns when the heartbeat fires and what becomes of missed ones.
func (h *Heartbeat) Schedule() (schedule.Schedule, schedule.Policy, error) {
	p, err := schedule.ParsePolicy(h.Missed)
	if err != nil {
		return schedule.Schedule{}, p, err
	}
	every := ""
	if h.Cron == "" {
		every = h.Every.String()
	}
	s, err := scheduleOf(h.Cron, h.Zone, every)
	return s, p, err
}

func scheduleOf(cron, zone, every string) (schedule.Schedule, error) {
	if cron != "" {
		return schedule.Cron(cron, zone)
	}
	d, err := time.ParseDuration(every)
	if err != nil {
		return schedule.Schedule{}, fairlead.Errorf(fairlead.CodeInvalid, "the interval is not a duration").WithHint("write it as 15m")
	}
	return schedule.Every(d)
}
