-- What retention looks for.
CREATE INDEX runs_finished ON runs (finished_at) WHERE finished_at <> 0;
CREATE INDEX outbox_done ON outbox (done_at) WHERE done_at <> 0;
