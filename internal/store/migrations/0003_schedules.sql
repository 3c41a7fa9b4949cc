-- Schedules: routines with the tasks they made, receipts of fires, counts of heartbeats.

CREATE TABLE routines (
  workspace TEXT {{c}} NOT NULL REFERENCES workspaces(key),
  key TEXT {{c}} NOT NULL,
  profile TEXT NOT NULL,
  secret TEXT NOT NULL DEFAULT '',
  paused BIGINT NOT NULL DEFAULT 0,
  pause_reason TEXT NOT NULL DEFAULT '',
  paused_at BIGINT NOT NULL DEFAULT 0,
  anchor BIGINT NOT NULL,
  waiting TEXT NOT NULL DEFAULT '',
  last_at BIGINT NOT NULL DEFAULT 0,
  last_task TEXT {{c}} NOT NULL DEFAULT '',
  version BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (workspace, key)
);

-- Tasks that a routine made and that its overlap rule still counts; those that have ended are dropped at its next fire.
CREATE TABLE routine_tasks (
  task TEXT {{c}} PRIMARY KEY REFERENCES tasks(id),
  workspace TEXT {{c}} NOT NULL,
  routine TEXT {{c}} NOT NULL
);
CREATE INDEX routine_tasks_of ON routine_tasks (workspace, routine);

CREATE TABLE schedule_receipts (
  id TEXT {{c}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL,
  kind TEXT {{c}} NOT NULL,
  ref TEXT {{c}} NOT NULL,
  step TEXT {{c}} NOT NULL DEFAULT '',
  at BIGINT NOT NULL,
  until_at BIGINT NOT NULL,
  n BIGINT NOT NULL,
  outcome TEXT {{c}} NOT NULL,
  reason TEXT {{c}} NOT NULL DEFAULT '',
  cause TEXT {{c}} NOT NULL DEFAULT '',
  task TEXT {{c}} NOT NULL DEFAULT '',
  made_at BIGINT NOT NULL
);
CREATE INDEX schedule_receipts_of ON schedule_receipts (workspace, kind, ref, made_at DESC, id DESC);

-- Heartbeats that came to nothing are counted, not recorded.
CREATE TABLE heartbeat_days (
  task TEXT {{c}} NOT NULL,
  step TEXT {{c}} NOT NULL,
  day TEXT {{c}} NOT NULL,
  outcome TEXT {{c}} NOT NULL,
  n BIGINT NOT NULL,
  PRIMARY KEY (task, step, day, outcome)
);
