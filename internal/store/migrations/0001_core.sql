-- The core: workspaces, people, agents, workflows, tasks, visits, assignments, runs, requests, records, events.
-- Ids and keys are TEXT {{c}}; times are microseconds since 1970 in BIGINT, 0 = none; structured values are JSON in TEXT.
-- Booleans are BIGINT 0/1.

CREATE TABLE meta (
  key TEXT {{c}} PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE workspaces (
  key TEXT {{c}} PRIMARY KEY,
  name TEXT NOT NULL,
  -- Of identifiers and so of directories and branches: no two workspaces share one.
  prefix TEXT {{c}} NOT NULL UNIQUE,
  created_at BIGINT NOT NULL
);

-- Numbers given out: "task" gives identifiers; "revision" is raised by every change of agents, people and workflows, so
-- that what depends on them can be cached by it. A counter's row is the last lock a transaction takes.
CREATE TABLE counters (
  workspace TEXT {{c}} NOT NULL,
  name TEXT {{c}} NOT NULL,
  last BIGINT NOT NULL,
  PRIMARY KEY (workspace, name)
);

CREATE TABLE people (
  workspace TEXT {{c}} NOT NULL REFERENCES workspaces(key),
  key TEXT {{c}} NOT NULL,
  name TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (workspace, key)
);

CREATE TABLE tokens (
  id TEXT {{c}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL,
  kind TEXT {{c}} NOT NULL,
  key TEXT {{c}} NOT NULL,
  hash TEXT {{c}} NOT NULL UNIQUE,
  home TEXT {{c}} NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL
);

CREATE TABLE agents (
  workspace TEXT {{c}} NOT NULL REFERENCES workspaces(key),
  key TEXT {{c}} NOT NULL,
  profile TEXT NOT NULL,
  duty TEXT {{c}} NOT NULL DEFAULT '',
  parallel BIGINT NOT NULL DEFAULT 1,
  paused BIGINT NOT NULL DEFAULT 0,
  pause_reason TEXT NOT NULL DEFAULT '',
  version BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (workspace, key)
);

CREATE TABLE workflows (
  workspace TEXT {{c}} NOT NULL REFERENCES workspaces(key),
  key TEXT {{c}} NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (workspace, key)
);

CREATE TABLE workflow_versions (
  workspace TEXT {{c}} NOT NULL,
  key TEXT {{c}} NOT NULL,
  version BIGINT NOT NULL,
  name TEXT NOT NULL,
  style TEXT NOT NULL,
  source TEXT NOT NULL,
  digest TEXT {{c}} NOT NULL,
  by_actor TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (workspace, key, version)
);

CREATE TABLE tasks (
  id TEXT {{c}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL REFERENCES workspaces(key),
  number BIGINT NOT NULL,
  identifier TEXT {{c}} NOT NULL,
  workflow TEXT {{c}} NOT NULL,
  workflow_version BIGINT NOT NULL,
  step TEXT {{c}} NOT NULL,
  visit BIGINT NOT NULL,
  round BIGINT NOT NULL,
  entered BIGINT NOT NULL,
  terminal TEXT {{c}} NOT NULL DEFAULT '',
  title TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  requirements TEXT NOT NULL DEFAULT '[]',
  priority TEXT {{c}} NOT NULL,
  position DOUBLE PRECISION NOT NULL,
  labels TEXT NOT NULL DEFAULT '[]',
  parent TEXT {{c}} NOT NULL DEFAULT '',
  origin TEXT {{c}} NOT NULL,
  creator TEXT NOT NULL,
  agent TEXT {{c}} NOT NULL DEFAULT '',
  repository TEXT NOT NULL DEFAULT '',
  metadata TEXT NOT NULL DEFAULT '{}',
  cancelled_blocker TEXT {{c}} NOT NULL DEFAULT 'resolve',
  ephemeral BIGINT NOT NULL DEFAULT 0,
  coordination TEXT {{c}} NOT NULL DEFAULT '',
  held TEXT {{c}} NOT NULL DEFAULT '',
  person_visit BIGINT NOT NULL DEFAULT 0,
  signal_visit BIGINT NOT NULL DEFAULT 0,
  record_seq BIGINT NOT NULL DEFAULT 0,
  search TEXT NOT NULL,
  archived_at BIGINT NOT NULL DEFAULT 0,
  moved_at BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  version BIGINT NOT NULL,
  UNIQUE (workspace, number)
);
CREATE UNIQUE INDEX tasks_identifier ON tasks (workspace, identifier);
CREATE INDEX tasks_created ON tasks (workspace, created_at DESC, id DESC);
CREATE INDEX tasks_step ON tasks (workspace, workflow, step, position, id);
CREATE INDEX tasks_parent ON tasks (parent) WHERE parent <> '';
CREATE UNIQUE INDEX tasks_coordination ON tasks (workspace, coordination) WHERE coordination <> '';

CREATE TABLE visits (
  task TEXT {{c}} NOT NULL REFERENCES tasks(id),
  n BIGINT NOT NULL,
  workflow TEXT {{c}} NOT NULL,
  workflow_version BIGINT NOT NULL,
  step TEXT {{c}} NOT NULL,
  from_step TEXT {{c}} NOT NULL DEFAULT '',
  by_actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  note TEXT NOT NULL DEFAULT '',
  round BIGINT NOT NULL,
  began_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (task, n)
);

CREATE TABLE participants (
  id TEXT {{c}} PRIMARY KEY,
  task TEXT {{c}} NOT NULL REFERENCES tasks(id),
  step TEXT {{c}} NOT NULL DEFAULT '',
  role TEXT {{c}} NOT NULL,
  agent TEXT {{c}} NOT NULL DEFAULT '',
  person TEXT {{c}} NOT NULL DEFAULT '',
  decision_required BIGINT NOT NULL,
  removed BIGINT NOT NULL DEFAULT 0,
  by_actor TEXT NOT NULL,
  at BIGINT NOT NULL,
  UNIQUE (task, step, role, agent, person)
);

CREATE TABLE seats (
  id TEXT {{c}} PRIMARY KEY,
  task TEXT {{c}} NOT NULL REFERENCES tasks(id),
  visit BIGINT NOT NULL,
  role TEXT {{c}} NOT NULL,
  agent TEXT {{c}} NOT NULL DEFAULT '',
  person TEXT {{c}} NOT NULL DEFAULT '',
  decision_required BIGINT NOT NULL,
  participant TEXT {{c}} NOT NULL DEFAULT '',
  removed_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX seats_visit ON seats (task, visit);
CREATE UNIQUE INDEX seats_holder ON seats (task, visit, role, agent, person) WHERE removed_at = 0;

CREATE TABLE decisions (
  id TEXT {{c}} PRIMARY KEY,
  task TEXT {{c}} NOT NULL REFERENCES tasks(id),
  visit BIGINT NOT NULL,
  round BIGINT NOT NULL,
  seat TEXT {{c}} NOT NULL,
  role TEXT {{c}} NOT NULL,
  verdict TEXT {{c}} NOT NULL,
  note TEXT NOT NULL DEFAULT '',
  by_actor TEXT NOT NULL,
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL
);
CREATE INDEX decisions_round ON decisions (task, visit, round, seq);

CREATE TABLE assignments (
  id TEXT {{c}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL,
  task TEXT {{c}} NOT NULL REFERENCES tasks(id),
  visit BIGINT NOT NULL,
  step TEXT {{c}} NOT NULL,
  capacity TEXT {{c}} NOT NULL,
  agent TEXT {{c}} NOT NULL,
  seat TEXT {{c}} NOT NULL DEFAULT '',
  session TEXT {{c}} NOT NULL,
  program TEXT {{c}} NOT NULL DEFAULT 'plain',
  state TEXT {{c}} NOT NULL,
  park_requested BIGINT NOT NULL DEFAULT 0,
  signalled BIGINT NOT NULL DEFAULT 0,
  own_move TEXT NOT NULL DEFAULT '',
  interruptions BIGINT NOT NULL DEFAULT 0,
  parent TEXT {{c}} NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL,
  version BIGINT NOT NULL
);
CREATE INDEX assignments_visit ON assignments (task, visit);

CREATE TABLE sessions (
  id TEXT {{c}} PRIMARY KEY,
  task TEXT {{c}} NOT NULL REFERENCES tasks(id),
  agent TEXT {{c}} NOT NULL,
  capacity TEXT {{c}} NOT NULL,
  state TEXT {{c}} NOT NULL,
  delivered BIGINT NOT NULL DEFAULT 0,
  in_flight BIGINT NOT NULL DEFAULT 0,
  execution TEXT {{c}} NOT NULL DEFAULT '',
  external TEXT NOT NULL DEFAULT '',
  turns BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  UNIQUE (task, agent, capacity)
);

CREATE TABLE agent_executions (
  id TEXT {{c}} PRIMARY KEY,
  session TEXT {{c}} NOT NULL REFERENCES sessions(id),
  node TEXT {{c}} NOT NULL,
  state TEXT {{c}} NOT NULL,
  started_at BIGINT NOT NULL,
  ended_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX agent_executions_live ON agent_executions (node) WHERE ended_at = 0;

CREATE TABLE records (
  task TEXT {{c}} NOT NULL REFERENCES tasks(id),
  seq BIGINT NOT NULL,
  assignment TEXT {{c}} NOT NULL DEFAULT '',
  visit BIGINT NOT NULL,
  run TEXT {{c}} NOT NULL DEFAULT '',
  kind TEXT {{c}} NOT NULL,
  actor TEXT NOT NULL,
  data TEXT NOT NULL,
  sem BIGINT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (task, seq)
);

CREATE TABLE blobs (
  hash TEXT {{c}} PRIMARY KEY,
  data TEXT NOT NULL,
  at BIGINT NOT NULL
);

CREATE TABLE wakes (
  task TEXT {{c}} NOT NULL,
  seq BIGINT NOT NULL,
  assignment TEXT {{c}} NOT NULL,
  run TEXT {{c}} NOT NULL,
  reason TEXT NOT NULL,
  payload TEXT NOT NULL DEFAULT '{}',
  op TEXT NOT NULL DEFAULT '',
  key TEXT NOT NULL DEFAULT '',
  by_actor TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (task, seq)
);
CREATE INDEX wakes_run ON wakes (run);

CREATE TABLE wake_keys (
  workspace TEXT {{c}} NOT NULL,
  agent TEXT {{c}} NOT NULL,
  key TEXT NOT NULL,
  run TEXT {{c}} NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (workspace, agent, key)
);
CREATE INDEX wake_keys_run ON wake_keys (run);

CREATE TABLE runs (
  id TEXT {{c}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL,
  agent TEXT {{c}} NOT NULL,
  task TEXT {{c}} NOT NULL REFERENCES tasks(id),
  assignment TEXT {{c}} NOT NULL REFERENCES assignments(id),
  visit BIGINT NOT NULL,
  step TEXT {{c}} NOT NULL,
  session TEXT {{c}} NOT NULL,
  status TEXT {{c}} NOT NULL,
  outcome TEXT {{c}} NOT NULL DEFAULT '',
  reason TEXT NOT NULL,
  absorbed BIGINT NOT NULL DEFAULT 0,
  attempt BIGINT NOT NULL DEFAULT 0,
  priority BIGINT NOT NULL,
  person BIGINT NOT NULL DEFAULT 0,
  settled BIGINT NOT NULL DEFAULT 0,
  light BIGINT NOT NULL DEFAULT 0,
  direct BIGINT NOT NULL DEFAULT 0,
  due BIGINT NOT NULL,
  due_at BIGINT NOT NULL,
  requested_at BIGINT NOT NULL,
  claimed_at BIGINT NOT NULL DEFAULT 0,
  started_at BIGINT NOT NULL DEFAULT 0,
  finished_at BIGINT NOT NULL DEFAULT 0,
  stop_reason TEXT NOT NULL DEFAULT '',
  stop_status TEXT {{c}} NOT NULL DEFAULT '',
  error_class TEXT {{c}} NOT NULL DEFAULT '',
  error_message TEXT NOT NULL DEFAULT '',
  fence BIGINT NOT NULL DEFAULT 0,
  claim TEXT {{c}} NOT NULL DEFAULT '',
  node TEXT {{c}} NOT NULL DEFAULT '',
  epoch BIGINT NOT NULL DEFAULT 0,
  merged_into TEXT {{c}} NOT NULL DEFAULT '',
  version BIGINT NOT NULL
);
-- At most one queued run an assignment: what coalescing rests on.
CREATE UNIQUE INDEX runs_queued_assignment ON runs (assignment) WHERE status = 'queued';
CREATE INDEX runs_claimable ON runs (workspace, agent, priority DESC, requested_at, id) WHERE status = 'queued' AND due = 1;
CREATE INDEX runs_task ON runs (task, requested_at);
CREATE INDEX runs_active ON runs (task) WHERE status IN ('queued', 'claimed', 'running', 'stopping');
CREATE INDEX runs_agent_active ON runs (workspace, agent) WHERE status IN ('queued', 'claimed', 'running', 'stopping');
CREATE INDEX runs_live_node ON runs (node, epoch) WHERE status IN ('claimed', 'running', 'stopping');
CREATE INDEX runs_created ON runs (workspace, requested_at DESC, id DESC);

CREATE TABLE run_events (
  run TEXT {{c}} NOT NULL REFERENCES runs(id),
  seq BIGINT NOT NULL,
  kind TEXT {{c}} NOT NULL,
  data TEXT NOT NULL DEFAULT '{}',
  at BIGINT NOT NULL,
  PRIMARY KEY (run, seq)
);

-- Constraints are the last word: who occupies what.
CREATE TABLE checkouts (
  task TEXT {{c}} PRIMARY KEY,
  run TEXT {{c}} NOT NULL UNIQUE,
  agent TEXT {{c}} NOT NULL,
  since BIGINT NOT NULL
);
CREATE TABLE live_runs (
  assignment TEXT {{c}} PRIMARY KEY,
  run TEXT {{c}} NOT NULL UNIQUE
);
CREATE TABLE agent_slots (
  workspace TEXT {{c}} NOT NULL,
  agent TEXT {{c}} NOT NULL,
  n BIGINT NOT NULL,
  run TEXT {{c}} NOT NULL UNIQUE,
  PRIMARY KEY (workspace, agent, n)
);
CREATE TABLE wip_places (
  workspace TEXT {{c}} NOT NULL,
  workflow TEXT {{c}} NOT NULL,
  step TEXT {{c}} NOT NULL,
  n BIGINT NOT NULL,
  task TEXT {{c}} NOT NULL,
  PRIMARY KEY (workspace, workflow, step, n),
  UNIQUE (workspace, workflow, step, task)
);

CREATE TABLE requests (
  id TEXT {{c}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL,
  kind TEXT {{c}} NOT NULL,
  task TEXT {{c}} NOT NULL,
  visit BIGINT NOT NULL,
  round BIGINT NOT NULL DEFAULT 0,
  seat TEXT {{c}} NOT NULL DEFAULT '',
  assignment TEXT {{c}} NOT NULL DEFAULT '',
  run TEXT {{c}} NOT NULL DEFAULT '',
  prompt TEXT NOT NULL,
  schema TEXT NOT NULL DEFAULT '',
  options TEXT NOT NULL DEFAULT '[]',
  payload TEXT NOT NULL DEFAULT '{}',
  blocks TEXT {{c}} NOT NULL,
  who_may TEXT NOT NULL DEFAULT '[]',
  asked_of TEXT NOT NULL DEFAULT '[]',
  opened_by TEXT NOT NULL,
  state TEXT {{c}} NOT NULL,
  answer TEXT NOT NULL DEFAULT '',
  resolved_by TEXT NOT NULL DEFAULT '',
  opened_at BIGINT NOT NULL,
  resolved_at BIGINT NOT NULL DEFAULT 0,
  seq BIGINT NOT NULL,
  version BIGINT NOT NULL
);
CREATE INDEX requests_task ON requests (task, opened_at);
CREATE INDEX requests_open_task ON requests (task) WHERE state = 'open';
CREATE INDEX requests_open ON requests (workspace, opened_at DESC, id DESC) WHERE state = 'open';
CREATE INDEX requests_at ON requests (workspace, opened_at DESC, id DESC);
CREATE INDEX requests_approval ON requests (task, visit, kind);

CREATE TABLE comments (
  id TEXT {{c}} PRIMARY KEY,
  task TEXT {{c}} NOT NULL REFERENCES tasks(id),
  visit BIGINT NOT NULL,
  author TEXT NOT NULL,
  text TEXT NOT NULL,
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL
);
CREATE INDEX comments_task ON comments (task, seq);

CREATE TABLE blockers (
  task TEXT {{c}} NOT NULL REFERENCES tasks(id),
  blocked_by TEXT {{c}} NOT NULL REFERENCES tasks(id),
  by_actor TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (task, blocked_by)
);
CREATE INDEX blockers_by ON blockers (blocked_by);

-- What a task was told of the end of a blocker or a child: each end (the other's terminal visit) is told once.
CREATE TABLE told (
  task TEXT {{c}} NOT NULL,
  kind TEXT {{c}} NOT NULL,
  other TEXT {{c}} NOT NULL,
  visit BIGINT NOT NULL,
  PRIMARY KEY (task, kind, other, visit)
);

CREATE TABLE deferred (
  task TEXT {{c}} NOT NULL REFERENCES tasks(id),
  seq BIGINT NOT NULL,
  visit BIGINT NOT NULL,
  trigger_json TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (task, seq)
);

CREATE TABLE outbox (
  id {{serial}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL,
  task TEXT {{c}} NOT NULL,
  op TEXT {{c}} NOT NULL,
  kind TEXT {{c}} NOT NULL,
  payload TEXT NOT NULL DEFAULT '{}',
  attempts BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  done_at BIGINT NOT NULL DEFAULT 0,
  rejected TEXT NOT NULL DEFAULT '',
  UNIQUE (task, op)
);
CREATE INDEX outbox_notifies ON outbox (id) WHERE done_at = 0 AND kind = 'notify';
CREATE INDEX outbox_undelivered ON outbox (task, id) WHERE done_at = 0;

CREATE TABLE notices (
  id TEXT {{c}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL,
  task TEXT {{c}} NOT NULL DEFAULT '',
  visit BIGINT NOT NULL DEFAULT 0,
  kind TEXT {{c}} NOT NULL,
  text TEXT NOT NULL,
  data TEXT NOT NULL DEFAULT '{}',
  at BIGINT NOT NULL,
  done_at BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX notices_at ON notices (workspace, at DESC, id DESC);
CREATE INDEX notices_task ON notices (task, visit, kind);
CREATE INDEX notices_open ON notices (workspace, at DESC, id DESC) WHERE done_at = 0;

CREATE TABLE operations (
  workspace TEXT {{c}} NOT NULL,
  scope TEXT {{c}} NOT NULL,
  id TEXT {{c}} NOT NULL,
  fingerprint TEXT {{c}} NOT NULL,
  seed TEXT {{c}} NOT NULL,
  status BIGINT NOT NULL DEFAULT 0,
  result TEXT NOT NULL DEFAULT '',
  at BIGINT NOT NULL,
  PRIMARY KEY (workspace, scope, id)
);
CREATE INDEX operations_at ON operations (at);

CREATE TABLE audit (
  id TEXT {{c}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL,
  actor TEXT NOT NULL,
  op TEXT {{c}} NOT NULL,
  command TEXT {{c}} NOT NULL,
  task TEXT {{c}} NOT NULL DEFAULT '',
  run TEXT {{c}} NOT NULL DEFAULT '',
  code TEXT {{c}} NOT NULL,
  message TEXT NOT NULL,
  at BIGINT NOT NULL
);
CREATE INDEX audit_task ON audit (task, at);

CREATE TABLE timers (
  id TEXT {{c}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL,
  kind TEXT {{c}} NOT NULL,
  task TEXT {{c}} NOT NULL DEFAULT '',
  ref TEXT {{c}} NOT NULL DEFAULT '',
  due_at BIGINT NOT NULL,
  generation BIGINT NOT NULL,
  payload TEXT NOT NULL DEFAULT '{}',
  UNIQUE (kind, ref)
);
CREATE INDEX timers_task ON timers (task);
CREATE INDEX timers_due ON timers (due_at);

CREATE TABLE nodes (
  id TEXT {{c}} PRIMARY KEY,
  epoch BIGINT NOT NULL UNIQUE,
  host TEXT NOT NULL,
  pid BIGINT NOT NULL,
  labels TEXT NOT NULL DEFAULT '[]',
  slots BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  dead_at BIGINT NOT NULL DEFAULT 0
);

-- Apart from nodes: a renewal must not wait for the commands that hold their node's row shared.
CREATE TABLE node_beats (
  node TEXT {{c}} PRIMARY KEY,
  counter BIGINT NOT NULL
);

-- One append-only log. On Postgres a row gets its position from the sequencer after its commit (NULL before).
CREATE TABLE events (
  id {{serial}} PRIMARY KEY,
  position BIGINT UNIQUE,
  kind TEXT {{c}} NOT NULL,
  workspace TEXT {{c}} NOT NULL,
  task TEXT {{c}} NOT NULL DEFAULT '',
  visit BIGINT NOT NULL DEFAULT 0,
  run TEXT {{c}} NOT NULL DEFAULT '',
  actor TEXT NOT NULL,
  version BIGINT NOT NULL DEFAULT 0,
  data TEXT NOT NULL DEFAULT '{}',
  at BIGINT NOT NULL
);
CREATE INDEX events_unplaced ON events (id) WHERE position IS NULL;
