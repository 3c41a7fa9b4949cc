package read

// Bounds of a page.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// TaskQuery filters a list of tasks; empty fields do not filter.
type TaskQuery struct {
	Workflow, Step, State, Label, Q string
	Parent                          string
	Archived, Ephemeral             bool
	Limit                           int // 0 = DefaultLimit
	Cursor                          string
}

// RunQuery filters a list of runs.
type RunQuery struct {
	Task, Agent, Status, Step string
	Limit                     int
	Cursor                    string
}

// RequestQuery filters a list of requests. State "" = open. Person = asked of that person or of everybody.
type RequestQuery struct {
	State, Task, Kind, Person string
	Limit                     int
	Cursor                    string
}
