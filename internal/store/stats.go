package store

import "time"

// Stats is how much there is to do, over all workspaces.
type Stats struct {
	Queued, Due, Live int
	Retrying          int       // queued runs whose last attempt failed
	OldestDue         time.Time // when the run that has been due longest was asked for; zero = none is due
	OpenRequests      int
	Undelivered       int // outbox rows
}

var (
	stmtStatsRuns = define("stats_runs", `
SELECT COUNT(CASE WHEN status = 'queued' THEN 1 END), COUNT(CASE WHEN status = 'queued' AND due = 1 THEN 1 END),
  COUNT(CASE WHEN status <> 'queued' THEN 1 END), COUNT(CASE WHEN status = 'queued' AND attempt > 0 THEN 1 END),
  COALESCE(MIN(CASE WHEN status = 'queued' AND due = 1 THEN requested_at END), 0)
FROM runs WHERE status IN ('queued', 'claimed', 'running', 'stopping')`)
	stmtStatsRest = define("stats_rest", `
SELECT (SELECT COUNT(*) FROM requests WHERE state = 'open'), (SELECT COUNT(*) FROM outbox WHERE done_at = 0)`)
)

// Stats counts what is open. It reads the indexes of what is active, not what has ended.
func (r *ReadTx) Stats() (s Stats, err error) {
	if _, err := r.get(stmtStatsRuns, func(row scanner) error {
		return row.Scan(&s.Queued, &s.Due, &s.Live, &s.Retrying, timeCol{&s.OldestDue})
	}); err != nil {
		return s, err
	}
	_, err = r.get(stmtStatsRest, into(&s.OpenRequests, &s.Undelivered))
	return s, err
}
