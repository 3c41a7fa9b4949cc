package api

import "net/http"

// prefix is what every route of this version begins with.
const prefix = "/api/v1"

const (
	get    = http.MethodGet
	post   = http.MethodPost
	patch  = http.MethodPatch
	remove = http.MethodDelete
)

// routes is the whole route table. Its last columns are the status of a success and the handler.
func (s *Server) routes() {
	a := s.api
	route(a, get, prefix+"/tasks", "list-tasks", "List tasks", 200, s.listTasks)
	route(a, post, prefix+"/tasks", "create-task", "Create a task", 201, s.createTask)
	route(a, get, prefix+"/tasks/{id}", "get-task", "Show a task", 200, s.getTask)
	route(a, patch, prefix+"/tasks/{id}", "update-task", "Change fields of a task", 200, s.updateTask)
	route(a, post, prefix+"/tasks/{id}/move", "move-task", "Move a task to a step", 200, s.moveTask)
	route(a, post, prefix+"/tasks/{id}/triggers", "trigger-task", "Fire a trigger, or see what it would do", 200, s.triggerTask)
	route(a, post, prefix+"/tasks/{id}/repin", "repin-task", "Take the newest version of the workflow", 200, s.repinTask)
	route(a, post, prefix+"/tasks/{id}/archive", "archive-task", "Archive a task", 200, s.archiveTask)
	route(a, post, prefix+"/tasks/{id}/start", "start-task", "Start an agent now", 200, s.startTask)
	route(a, post, prefix+"/tasks/{id}/stop", "stop-task", "Stop the agents of a task", 200, s.stopTask)
	s.taskRoutes()
	s.budgetRoutes()

	route(a, get, prefix+"/runs", "list-runs", "List runs", 200, s.listRuns)
	route(a, get, prefix+"/runs/{id}", "get-run", "Show a run", 200, s.getRun)
	route(a, get, prefix+"/runs/{id}/why", "why-run", "Say why a run waits", 200, s.whyRun)
	route(a, get, prefix+"/runs/{id}/events", "list-run-events", "List or follow what a run did", 200, s.runEvents)
	route(a, post, prefix+"/runs/{id}/cancel", "cancel-run", "Cancel a run", 200, s.cancelRun)
	route(a, post, prefix+"/runs/{id}/retry", "retry-run", "Try a dead run again", 200, s.retryRun)
	route(a, post, prefix+"/runs/{id}/release", "release-run", "Let a run go from the dead node that has its worktree", 200, s.releaseRun)

	route(a, get, prefix+"/requests", "list-requests", "List questions to people", 200, s.listRequests)
	route(a, get, prefix+"/requests/{id}", "get-request", "Show a question", 200, s.getRequest)
	route(a, post, prefix+"/requests/{id}/answer", "answer-request", "Answer a question", 200, s.answerRequest)
	route(a, get, prefix+"/inbox", "get-inbox", "Show what waits for a person", 200, s.inbox)
	route(a, post, prefix+"/notices/{id}/dismiss", "dismiss-notice", "Put a notice away", 204, s.dismissNotice)

	route(a, get, prefix+"/workflows", "list-workflows", "List workflows", 200, s.listWorkflows)
	route(a, post, prefix+"/workflows", "save-workflow", "Save a workflow", 201, s.saveWorkflow)
	route(a, get, prefix+"/workflows/{key}", "get-workflow", "Show a workflow", 200, s.getWorkflow)
	route(a, get, prefix+"/workflows/schema.json", "get-workflow-schema", "Get the JSON Schema of workflows", 200, s.workflowSchema)
	route(a, post, prefix+"/workflows/lint", "lint-workflow", "Check a workflow", 200, s.lintWorkflow)
	route(a, post, prefix+"/workflows/simulate", "simulate-workflow", "See what a trigger would do", 200, s.simulateWorkflow)

	route(a, get, prefix+"/agents", "list-agents", "List agents", 200, s.listAgents)
	route(a, post, prefix+"/agents", "apply-agent", "Add or change an agent", 200, s.applyAgent)
	route(a, get, prefix+"/agents/{key}", "get-agent", "Show an agent", 200, s.getAgent)
	route(a, post, prefix+"/agents/{key}/pause", "pause-agent", "Pause an agent", 200, s.pauseAgent)
	route(a, post, prefix+"/agents/{key}/resume", "resume-agent", "Let an agent go on", 200, s.resumeAgent)

	route(a, get, prefix+"/people", "list-people", "List people", 200, s.listPeople)
	route(a, post, prefix+"/people", "add-person", "Add a person", 201, s.addPerson)
	route(a, get, prefix+"/workspaces", "list-workspaces", "List workspaces", 200, s.listWorkspaces)
	route(a, post, prefix+"/workspaces", "add-workspace", "Add a workspace", 201, s.addWorkspace)
	route(a, get, prefix+"/tokens", "list-tokens", "List tokens, without their secrets", 200, s.listTokens)
	route(a, post, prefix+"/tokens", "add-token", "Make a token; its secret is shown once", 201, s.addToken)
	route(a, get, prefix+"/nodes", "list-nodes", "List starts of servers", 200, s.listNodes)
	s.routineRoutes()

	route(a, get, prefix+"/events", "stream-events", "Follow what happens", 200, s.events)

	s.mux.HandleFunc("GET /openapi.json", s.openAPI)
	s.mux.HandleFunc("GET /healthz", s.healthz)
	s.mux.HandleFunc("GET /readyz", s.readyz)
	if s.Metrics != nil {
		s.mux.Handle("GET /metrics", s.Metrics)
	}
}

// taskRoutes are the routes of what hangs on a task.
func (s *Server) taskRoutes() {
	a, of := s.api, prefix+"/tasks/{id}"
	route(a, get, of+"/comments", "list-comments", "List comments", 200, s.listComments)
	route(a, post, of+"/comments", "add-comment", "Write a comment", 201, s.addComment)
	route(a, post, of+"/decisions", "decide-task", "Record a verdict", 200, s.decideTask)
	route(a, get, of+"/quorum", "get-quorum", "Explain what a decision waits for", 200, s.quorum)
	route(a, post, of+"/participants", "add-participant", "Add a participant", 201, s.addParticipant)
	route(a, remove, of+"/participants/{participant}", "remove-participant", "Remove a participant", 200, s.removeParticipant)
	route(a, post, of+"/blockers", "add-blocker", "Wait for another task", 201, s.addBlocker)
	route(a, remove, of+"/blockers/{task}", "remove-blocker", "Wait no longer for another task", 200, s.removeBlocker)
	route(a, get, of+"/journal", "list-journal", "Read the journal", 200, s.journal)
	route(a, get, of+"/runs", "list-task-runs", "List a task's runs", 200, s.taskRuns)
	route(a, get, of+"/sessions", "list-sessions", "List a task's conversations", 200, s.sessions)
	route(a, get, of+"/transitions", "list-transitions", "List a task's way so far", 200, s.transitions)
}
