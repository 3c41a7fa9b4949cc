-- The last report of a run that was carried out, by claim and number: one that is sent again is not carried out again.
ALTER TABLE runs ADD COLUMN reported BIGINT NOT NULL DEFAULT 0;
