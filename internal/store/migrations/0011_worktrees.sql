-- Which node has a task's worktree. The home stands beside it for claims, which leave out what is elsewhere.
ALTER TABLE tasks ADD COLUMN tree_home TEXT {{c}} NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN tree TEXT NOT NULL DEFAULT '';
CREATE INDEX tasks_tree_home ON tasks (tree_home) WHERE tree_home <> '';
-- How far a node's clock is off the database's, in microseconds, while that is too much for it to work; 0 = it works.
ALTER TABLE node_beats ADD COLUMN clock_off BIGINT NOT NULL DEFAULT 0;
