package store

import (
	"time"

	fairlead "github.com/fairlead/fairlead"
)

const (
	participantColumns = `id, task, step, role, agent, person, decision_required, removed, by_actor, at`
	seatColumns        = `id, task, visit, role, agent, person, decision_required, participant, removed_at`
)

var (
	stmtParticipantInsert = define("participant_insert", `
INSERT INTO participants (`+participantColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (task, step, role, agent, person) DO NOTHING`)
	stmtParticipantUpdate = define("participant_update", `
UPDATE participants SET decision_required = ?2, removed = ?3, by_actor = ?4, at = ?5 WHERE id = ?1`)
	stmtParticipantDelete = define("participant_delete", `DELETE FROM participants WHERE id = ?1`)
	stmtParticipants      = define("participants", `SELECT `+participantColumns+` FROM participants WHERE task = ?1 ORDER BY id`)

	stmtSeatInsert = define("seat_insert", `INSERT INTO seats (`+seatColumns+`) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)`)
	stmtSeatRemove = define("seat_remove", `UPDATE seats SET removed_at = ?2 WHERE id = ?1 AND removed_at = 0`)
	stmtSeatSave   = define("seat_save", `UPDATE seats SET decision_required = ?2, participant = ?3 WHERE id = ?1`)
	stmtSeats      = define("seats", `SELECT `+seatColumns+` FROM seats WHERE task = ?1 AND visit = ?2 ORDER BY id`)
)

func scanParticipant(s scanner, p *fairlead.Participant) error {
	return s.Scan(&p.ID, &p.Task, &p.Step, &p.Role, &p.Agent, &p.Person, boolCol{&p.DecisionRequired}, boolCol{&p.Removed}, jsonCol{&p.By},
		timeCol{&p.At})
}

func scanSeat(s scanner, v *fairlead.Seat) error {
	return s.Scan(&v.ID, &v.Task, &v.Visit, &v.Role, &v.Agent, &v.Person, boolCol{&v.DecisionRequired}, &v.Participant, timeCol{&v.RemovedAt})
}

// InsertParticipant adds a row to a task. False: the holder has one in that role at that step.
func (tx *Tx) InsertParticipant(p fairlead.Participant) (bool, error) {
	return tx.taken(stmtParticipantInsert, p.ID, p.Task, p.Step, p.Role, p.Agent, p.Person, truth(p.DecisionRequired), truth(p.Removed),
		actorArg(p.By), micros(p.At))
}

// SaveParticipant writes whether the row takes a seat away, whether its verdict counts, and who said so.
func (tx *Tx) SaveParticipant(p fairlead.Participant) error {
	return tx.later(stmtParticipantUpdate, p.ID, truth(p.DecisionRequired), truth(p.Removed), actorArg(p.By), micros(p.At))
}

// DeleteParticipant removes a row.
func (tx *Tx) DeleteParticipant(id string) error {
	return tx.later(stmtParticipantDelete, id)
}

// ListParticipants returns the rows of a task, by id.
func (r *ReadTx) ListParticipants(task string) ([]fairlead.Participant, error) {
	return all(r, stmtParticipants, scanParticipant, task)
}

// InsertSeat adds a seat to a visit.
func (tx *Tx) InsertSeat(v fairlead.Seat) error {
	return tx.later(stmtSeatInsert, v.ID, v.Task, v.Visit, v.Role, v.Agent, v.Person, truth(v.DecisionRequired), v.Participant,
		micros(v.RemovedAt))
}

// SaveSeat writes whether the seat's verdict counts and which row it comes from.
func (tx *Tx) SaveSeat(v fairlead.Seat) error {
	return tx.later(stmtSeatSave, v.ID, truth(v.DecisionRequired), v.Participant)
}

// RemoveSeat takes a seat out of the count; its decisions stay readable.
func (tx *Tx) RemoveSeat(id string, at time.Time) error {
	return tx.later(stmtSeatRemove, id, micros(at))
}

// ListSeats returns the seats of a visit, removed ones too, by id.
func (r *ReadTx) ListSeats(task string, visit int) ([]fairlead.Seat, error) {
	if list, ok := shelved(r.shelf, task, visit, func(s *shelf) map[string][]fairlead.Seat { return s.seats }); ok {
		return list, nil
	}
	return all(r, stmtSeats, scanSeat, task, visit)
}
