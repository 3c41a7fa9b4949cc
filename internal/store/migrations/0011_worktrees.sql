-- Which node has a task's worktree. The home stands beside it for claims, which leave out what is elsewhere.
ALTER TABLE tasks ADD COLUMN tree_home TEXT {{c}} NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN tree TEXT NOT NULL DEFAULT '';
