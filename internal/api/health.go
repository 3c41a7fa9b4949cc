package api

import (
	"context"
	"net/http"
	"time"

	"github.com/fairlead/fairlead"
)

// readyTime bounds how long the question for readiness may take.
const readyTime = 2 * time.Second

// healthz says that the process answers.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) { say(w, `{"status":"ok"}`) }

// readyz says whether the server can work: its database answers and its epoch is live.
func (s *Server) readyz(w http.ResponseWriter, r *http.Request) {
	if s.Ready != nil {
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		if err := s.Ready(ctx); err != nil {
			callOf(r.Context()).err = err // for the log: the caller, who needs no token, learns no more than this
			writeProblem(w, fairlead.Errorf(fairlead.CodeUnavailable, "the server is not ready").WithHint("ask again in a moment"))
			return
		}
	}
	say(w, `{"status":"ready"}`)
}

// openAPI serves the document of this API.
func (s *Server) openAPI(w http.ResponseWriter, r *http.Request) {
	document, err := s.document()
	if err != nil {
		callOf(r.Context()).err = err
		writeProblem(w, err)
		return
	}
	say(w, string(document))
}

func say(w http.ResponseWriter, json string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(json + "\n")) // a caller who has gone
}
