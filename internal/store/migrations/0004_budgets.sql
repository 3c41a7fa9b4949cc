-- Budgets: what was used, the limits on it, who was told, asked and stopped.

-- What one run used of one model in one day (UTC). Money is in millionths of a US dollar and holds only calls whose price
-- is known; unpriced counts the others.
CREATE TABLE usage (
  run TEXT {{c}} NOT NULL,
  model TEXT {{c}} NOT NULL,
  day TEXT {{c}} NOT NULL,
  workspace TEXT {{c}} NOT NULL,
  agent TEXT {{c}} NOT NULL,
  task TEXT {{c}} NOT NULL,
  assignment TEXT {{c}} NOT NULL,
  calls BIGINT NOT NULL,
  input BIGINT NOT NULL,
  output BIGINT NOT NULL,
  cache_read BIGINT NOT NULL,
  cache_write BIGINT NOT NULL,
  money BIGINT NOT NULL,
  unpriced BIGINT NOT NULL,
  first_at BIGINT NOT NULL,
  last_at BIGINT NOT NULL,
  PRIMARY KEY (run, model, day)
);
CREATE INDEX usage_day ON usage (workspace, day);
CREATE INDEX usage_task ON usage (task);

-- spent and the span belong to the running period; whoever changes a row holds its lock, and it is the last it takes.
CREATE TABLE budgets (
  id TEXT {{c}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL REFERENCES workspaces(key),
  scope TEXT {{c}} NOT NULL,
  ref TEXT {{c}} NOT NULL,
  task TEXT {{c}} NOT NULL DEFAULT '',
  meter TEXT {{c}} NOT NULL,
  amount BIGINT NOT NULL,
  period TEXT {{c}} NOT NULL,
  zone TEXT NOT NULL,
  alerts TEXT NOT NULL,
  action TEXT {{c}} NOT NULL,
  generation BIGINT NOT NULL,
  spent BIGINT NOT NULL,
  unpriced BIGINT NOT NULL,
  span_start BIGINT NOT NULL,
  span_end BIGINT NOT NULL,
  span TEXT {{c}} NOT NULL,
  by_actor TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  version BIGINT NOT NULL,
  UNIQUE (workspace, scope, ref, meter, period)
);

-- One request for each limit a budget has had, in each period.
CREATE TABLE budget_requests (
  budget TEXT {{c}} NOT NULL REFERENCES budgets(id),
  generation BIGINT NOT NULL,
  span TEXT {{c}} NOT NULL,
  request TEXT {{c}} NOT NULL UNIQUE,
  PRIMARY KEY (budget, generation, span)
);

CREATE TABLE budget_alerts (
  budget TEXT {{c}} NOT NULL REFERENCES budgets(id),
  generation BIGINT NOT NULL,
  threshold BIGINT NOT NULL,
  span TEXT {{c}} NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (budget, generation, threshold, span)
);

-- Live runs that were told to stop by a budget, and runs that it parked. released: it may go on; its task is told.
CREATE TABLE budget_waiters (
  run TEXT {{c}} NOT NULL,
  budget TEXT {{c}} NOT NULL REFERENCES budgets(id),
  task TEXT {{c}} NOT NULL,
  assignment TEXT {{c}} NOT NULL,
  released BIGINT NOT NULL DEFAULT 0,
  at BIGINT NOT NULL,
  PRIMARY KEY (run, budget)
);
CREATE INDEX budget_waiters_of ON budget_waiters (budget);
CREATE INDEX budget_waiters_task ON budget_waiters (task);
