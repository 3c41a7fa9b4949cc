-- A budget may be deleted while runs that it stopped are on their way: they are told to go on, and until then their lines
-- outlive it.
CREATE TABLE budget_stopped (
  run TEXT {{c}} NOT NULL,
  budget TEXT {{c}} NOT NULL,
  task TEXT {{c}} NOT NULL,
  assignment TEXT {{c}} NOT NULL,
  released BIGINT NOT NULL DEFAULT 0,
  at BIGINT NOT NULL,
  PRIMARY KEY (run, budget)
);
INSERT INTO budget_stopped (run, budget, task, assignment, released, at)
SELECT run, budget, task, assignment, released, at FROM budget_waiters;
DROP TABLE budget_waiters;
ALTER TABLE budget_stopped RENAME TO budget_waiters;
CREATE INDEX budget_waiters_of ON budget_waiters (budget);
CREATE INDEX budget_waiters_task ON budget_waiters (task);
