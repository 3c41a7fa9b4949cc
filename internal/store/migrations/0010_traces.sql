-- The trace of what asked for a run, as a W3C traceparent: the run goes on with it, perhaps elsewhere and after a restart.
ALTER TABLE wakes ADD COLUMN trace TEXT NOT NULL DEFAULT '';
