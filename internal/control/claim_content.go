package control

import (
	"encoding/json"

	"github.com/fairlead/fairlead"
)

// content is what an assignment's session has not heard of yet.
type content struct {
	session   fairlead.Session
	addressed []fairlead.Record // to the session, in order
	own       []fairlead.Record // what the session itself did
}

// any reports whether there is something to work on: something new, or a turn without an end.
func (c *content) any() bool { return len(c.addressed) > 0 || c.session.InFlight > 0 }

// CutOff reports whether a turn_ended record says that the turn was interrupted too often: the attempt has failed by
// that, but the agent has not, and the next try goes on with the turn.
func CutOff(r fairlead.Record) bool {
	var d struct {
		Failure *fairlead.Failure `json:"failure"`
	}
	return json.Unmarshal(r.Data, &d) == nil && d.Failure != nil && d.Failure.Class == fairlead.ClassInterrupted
}

// interrupted reports whether the session's last turn has a beginning and no end of its own.
func (c *content) interrupted() bool {
	open := false
	for _, r := range c.own {
		switch r.Kind {
		case fairlead.RecordTurnStarted:
			open = true
		case fairlead.RecordTurnEnded:
			open = open && CutOff(r)
		}
	}
	return open
}

// contentPage is how many records are read at once.
const contentPage = 500

// content reads the task's journal after what the run's session was told.
func (w *work) content(r *fairlead.Run) (*content, error) {
	s, err := w.tx.LoadSession(r.Session)
	if err != nil {
		return nil, err
	}
	c := &content{session: s}
	sessions := map[string]string{r.Assignment: s.ID, "": ""}
	for after := s.Delivered; ; {
		page, err := w.news(r, &s, after)
		if err != nil {
			return nil, err
		}
		for _, rec := range page {
			if err := w.learnSessions(sessions, rec.Assignment, rec.Actor.Assignment); err != nil {
				return nil, err
			}
			c.add(rec, sessions)
		}
		if len(page) < contentPage {
			return c, nil
		}
		after = page[len(page)-1].Seq
	}
}

// news reads one page of the journal. The first one can be read before anybody knows where it begins.
func (w *work) news(r *fairlead.Run, s *fairlead.Session, after int64) ([]fairlead.Record, error) {
	if after == s.Delivered {
		return w.tx.ListNews(r.Task, s.ID, contentPage)
	}
	return w.tx.ListRecords(r.Task, after, contentPage)
}

// learnSessions looks up whose conversation assignments belong to. A session goes on over visits, so that the wakes of a
// superseded run are in its next prompt.
func (w *work) learnSessions(sessions map[string]string, assignments ...string) error {
	for _, id := range assignments {
		if _, known := sessions[id]; known {
			continue
		}
		a, err := w.tx.LoadAssignment(id)
		if fairlead.IsCode(err, fairlead.CodeNotFound) {
			sessions[id] = ""
			continue
		}
		if err != nil {
			return err
		}
		sessions[id] = a.Session
	}
	return nil
}

// add sorts a record: addressed to the session, of its own making, or none of its business. The same agent in another
// capacity is somebody else.
func (c *content) add(r fairlead.Record, sessions map[string]string) {
	own := sessions[r.Actor.Assignment] == c.session.ID
	switch r.Kind {
	case fairlead.RecordWake:
		if sessions[r.Assignment] == c.session.ID {
			c.addressed = append(c.addressed, r)
		}
	case fairlead.RecordMessage, fairlead.RecordEffectIntent, fairlead.RecordEffectOutcome, fairlead.RecordTurnStarted,
		fairlead.RecordTurnEnded, fairlead.RecordUsage, fairlead.RecordProgramMove, fairlead.RecordOwnMove, fairlead.RecordCompleted:
		if sessions[r.Assignment] == c.session.ID {
			c.own = append(c.own, r)
		}
	case fairlead.RecordComment, fairlead.RecordDecision, fairlead.RecordChildEnded, fairlead.RecordBlockerCleared:
		if !own {
			c.addressed = append(c.addressed, r)
		}
	case fairlead.RecordRequestResolved:
		// A verdict that came as an answer is told by its decision.
		if !own && resolvedOf(r.Data).Kind != fairlead.RequestDecision {
			c.addressed = append(c.addressed, r)
		}
	case fairlead.RecordTreeReleased:
		c.addressed = append(c.addressed, r)
	case fairlead.RecordMoved:
		if !own && hasNote(r.Data) {
			c.addressed = append(c.addressed, r)
		}
	}
}

// resolvedOf and hasNote read records of this package; one of another form says nothing.
func resolvedOf(data json.RawMessage) requestResolved {
	var d requestResolved
	_ = json.Unmarshal(data, &d)
	return d
}

func hasNote(data json.RawMessage) bool {
	var d movedData
	_ = json.Unmarshal(data, &d)
	return d.Note != ""
}
