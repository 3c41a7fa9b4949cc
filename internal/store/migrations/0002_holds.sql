-- Holds that are rows, because time or a person ends them: a provider's limit on an account, an agent's cool-down, and
-- the breaker of an agent that fails and fails. Every other hold is derived from facts.

CREATE TABLE holds (
  id TEXT {{c}} PRIMARY KEY,
  workspace TEXT {{c}} NOT NULL,
  kind TEXT {{c}} NOT NULL,
  ref TEXT {{c}} NOT NULL,
  state TEXT {{c}} NOT NULL,
  until_at BIGINT NOT NULL,
  wait BIGINT NOT NULL,
  since BIGINT NOT NULL,
  reset_at BIGINT NOT NULL DEFAULT 0,
  probe TEXT {{c}} NOT NULL DEFAULT '',
  reported BIGINT NOT NULL DEFAULT 0,
  noted BIGINT NOT NULL DEFAULT 0,
  reason TEXT NOT NULL DEFAULT '',
  version BIGINT NOT NULL
);
CREATE UNIQUE INDEX holds_of ON holds (workspace, kind, ref);
CREATE INDEX holds_probe ON holds (probe) WHERE probe <> '';

-- Attempts of an agent that failed right after their claim, kept for as long as the breaker looks back.
CREATE TABLE fast_failures (
  workspace TEXT {{c}} NOT NULL,
  agent TEXT {{c}} NOT NULL,
  at BIGINT NOT NULL,
  run TEXT {{c}} NOT NULL
);
CREATE INDEX fast_failures_of ON fast_failures (workspace, agent, at);

-- A try that a person's message caused in back-off: it does not climb the ladder.
ALTER TABLE runs ADD COLUMN early BIGINT NOT NULL DEFAULT 0;

-- The provider account of an agent beside its profile, so that a claim passes all agents of a limited account at once.
ALTER TABLE agents ADD COLUMN account TEXT {{c}} NOT NULL DEFAULT '';
-- sqlite only
UPDATE agents SET account = CASE
  WHEN COALESCE(json_extract(profile, '$.account'), '') <> '' THEN json_extract(profile, '$.account')
  WHEN json_extract(profile, '$.adapter') = 'script' OR json_extract(profile, '$.environment') IS NOT NULL THEN 'agent:' || key
  WHEN json_extract(profile, '$.command[0]') IS NOT NULL THEN json_extract(profile, '$.adapter') || ':' || json_extract(profile, '$.command[0]')
  WHEN instr(COALESCE(json_extract(profile, '$.model'), ''), '/') > 0 THEN json_extract(profile, '$.adapter') || ':'
    || substr(json_extract(profile, '$.model'), 1, instr(json_extract(profile, '$.model'), '/') - 1)
  ELSE json_extract(profile, '$.adapter') || ':' END;
-- end
-- postgres only
UPDATE agents SET account = CASE
  WHEN COALESCE(profile::jsonb ->> 'account', '') <> '' THEN profile::jsonb ->> 'account'
  WHEN profile::jsonb ->> 'adapter' = 'script' OR profile::jsonb -> 'environment' IS NOT NULL THEN 'agent:' || key
  WHEN profile::jsonb -> 'command' ->> 0 IS NOT NULL THEN (profile::jsonb ->> 'adapter') || ':' || (profile::jsonb -> 'command' ->> 0)
  WHEN strpos(COALESCE(profile::jsonb ->> 'model', ''), '/') > 0 THEN (profile::jsonb ->> 'adapter') || ':' || split_part(profile::jsonb ->> 'model', '/', 1)
  ELSE (profile::jsonb ->> 'adapter') || ':' END;
-- end
