-- The head of the queue over all agents: most often one of its first runs can be claimed.
CREATE INDEX runs_head ON runs (priority DESC, requested_at, id) WHERE status = 'queued' AND due = 1;
