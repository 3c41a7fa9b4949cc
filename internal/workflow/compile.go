package workflow

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/fairlead/fairlead"
)

// Names is what exists in the workspace a file is saved to. A nil map means that such names are not checked.
type Names struct {
	Agents    map[string]bool
	Duties    map[string]bool // duties that an agent has; an unknown one is a warning
	People    map[string]bool
	Workflows map[string]bool // the file's own key always counts as known
	Programs  map[string]bool // "flow:<name>" and "rounds:<name>"
}

// Bounds of a workflow.
const (
	maxSteps   = 200
	maxActions = 100 // of one trigger
	// maxExpressions bounds the time of a compilation: each costs some tens of microseconds.
	maxExpressions = 2000
)

// Compile reads one workflow. The definition is nil if the report has errors; warnings refuse nothing. The same source
// and names always give the same definition and report.
func Compile(source []byte, env Names) (*Definition, *Report) {
	report := &Report{}
	defer report.sort()
	root, bad := readYAML(source)
	if bad != nil {
		report.fail(bad.pos, "", bad.message, bad.remedy)
		return nil, report
	}
	c := &compiler{reader: reader{report: report}, names: env, def: &Definition{}, terminals: map[fairlead.Terminal][]string{}}
	c.workflow(root)
	if len(report.Errors) == 0 {
		c.checkGraph()
	}
	if len(report.Errors) > 0 {
		return nil, report
	}
	c.lint()
	sum := sha256.Sum256(source)
	c.def.Source, c.def.Digest = string(source), hex.EncodeToString(sum[:])
	return c.def, report
}

// Lint is Compile for those who want only the findings.
func Lint(source []byte, env Names) *Report {
	_, report := Compile(source, env)
	return report
}

// compiler holds what one Compile has read so far.
type compiler struct {
	reader
	names     Names
	def       *Definition
	keys      []string                       // of every step, known before the first is read: moves point forward
	terminals map[fairlead.Terminal][]string // keys of the terminal steps
	seq       int                            // actions read
}

var workflowKeys = []string{"workflow", "name", "style", "start", "self_review", "steps"}

func (c *compiler) workflow(root *node) {
	o, ok := c.object(root, "", "the workflow", workflowKeys)
	if !ok {
		return
	}
	d := c.def
	if o.required("workflow", "the workflow", "name it, as `workflow: office`") {
		d.Key = o.name("workflow")
	}
	if d.Name = o.str("name"); d.Name == "" {
		d.Name = d.Key
	}
	if d.Style = o.choice("style", "kanban", "office", "custom"); d.Style == "" {
		d.Style = "kanban"
	}
	d.SelfReview = o.boolean("self_review", false)
	c.steps(o)
	c.start(o)
}

func (c *compiler) steps(o object) {
	if !o.required("steps", "the workflow", "list at least one step") {
		return
	}
	list := o.r.list(o.at("steps"), "steps", "steps")
	if len(list) == 0 && o.at("steps").kind == kindList {
		c.report.fail(o.at("steps").pos, "steps", "the workflow has no step", "list at least one step")
	}
	if len(list) > maxSteps {
		c.report.fail(list[maxSteps].pos, "steps", fmt.Sprintf("the workflow has more than %d steps", maxSteps), "split it into several workflows")
		list = list[:maxSteps]
	}
	c.survey(list)
	seen := map[string]bool{}
	for i, n := range list {
		s := c.step(n, index("steps", i))
		if s == nil {
			continue
		}
		if s.Key != "" && seen[s.Key] {
			c.report.fail(s.Pos, index("steps", i)+".key", fmt.Sprintf("two steps have the key %q", s.Key), "give each step a key of its own")
		}
		seen[s.Key] = true
		c.def.Steps = append(c.def.Steps, s)
	}
}

func (c *compiler) start(o object) {
	c.def.Start = o.name("start")
	if o.at("start") == nil && len(c.def.Steps) > 0 {
		c.def.Start = c.def.Steps[0].Key
	}
	if c.def.Start == "" {
		return
	}
	pos := o.pos
	if n := o.at("start"); n != nil {
		pos = n.pos
	}
	switch s := c.def.Step(c.def.Start); {
	case s == nil:
		c.report.fail(pos, "start", fmt.Sprintf("start names the unknown step %q", c.def.Start), suggest(c.def.Start, c.keys))
	case s.Terminal != fairlead.TerminalNone:
		c.report.fail(pos, "start", "the start step is terminal: a new task would be ended at once", "start at a step without `terminal`")
	}
}

// survey notes what moves may name.
func (c *compiler) survey(list []*node) {
	for _, n := range list {
		key := n.get("key")
		if key == nil || key.text() == "" {
			continue
		}
		c.keys = append(c.keys, key.text())
		if t := n.get("terminal"); t != nil {
			c.terminals[fairlead.Terminal(t.text())] = append(c.terminals[fairlead.Terminal(t.text())], key.text())
		}
	}
}

// known checks a name against what exists in the workspace.
func (c *compiler) known(set map[string]bool, n *node, path, noun, name string) {
	if name == "" || set == nil || set[name] {
		return
	}
	names := make([]string, 0, len(set))
	for k, ok := range set {
		if ok {
			names = append(names, k)
		}
	}
	c.report.fail(n.pos, path, fmt.Sprintf("unknown %s %q", noun, clip(name)), suggestSorted(name, names, noun))
}
