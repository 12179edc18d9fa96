-- +goose Up
-- What runs, sessions and the ledger got for budgets, summaries, queue modes, group talk and scheduled jobs.

-- The session above all of a sub-agent, that nobody spawned: whose budget it uses.
ALTER TABLE sessions ADD COLUMN top TEXT NOT NULL DEFAULT '';
UPDATE sessions SET top = (
  WITH RECURSIVE up (key, depth) AS (
    SELECT sessions.spawned_by, 1
    UNION ALL SELECT s.spawned_by, up.depth + 1 FROM up JOIN sessions s ON s.key = up.key WHERE s.spawned_by <> '' AND up.depth < 100)
  SELECT up.key FROM up ORDER BY up.depth DESC LIMIT 1)
WHERE spawned_by <> '';

-- The run whose turn answered this one's message as well.
ALTER TABLE runs ADD COLUMN batch TEXT NOT NULL DEFAULT '';

-- What model calls cost. Rows stay when their session is deleted.
CREATE TABLE spends (
  num         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE, -- of the message that came of it, or one of its own
  at          INTEGER NOT NULL,
  run         TEXT NOT NULL,
  key         TEXT NOT NULL,
  payer       TEXT NOT NULL,
  agent       TEXT NOT NULL,
  model       TEXT NOT NULL,
  purpose     TEXT NOT NULL,
  input       INTEGER NOT NULL,
  output      INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cost        INTEGER NOT NULL -- millionths of a dollar
);
CREATE INDEX spends_at ON spends(at);
CREATE INDEX spends_payer ON spends(payer, at);
CREATE INDEX spends_agent ON spends(agent, at);

-- Budgets that do not count until a time.
CREATE TABLE lifts (scope TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;

-- What stands for the older part of a transcript where a model is shown it. The messages stay.
CREATE TABLE summaries (
  num        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  transcript INTEGER NOT NULL,
  number     INTEGER NOT NULL, -- 1 = the first of its transcript
  upto       INTEGER NOT NULL, -- messages.seq of the last message that it covers
  at         INTEGER NOT NULL,
  body       TEXT NOT NULL
);
CREATE UNIQUE INDEX summaries_transcript ON summaries(transcript, number);

-- Group talk that was not meant for the bot: context for the next turn there.
CREATE TABLE overheard (
  seq     INTEGER PRIMARY KEY,
  key     TEXT NOT NULL,
  sender  TEXT NOT NULL,
  name    TEXT NOT NULL,
  message TEXT NOT NULL,
  at      INTEGER NOT NULL,
  body    TEXT NOT NULL
);
CREATE INDEX overheard_key ON overheard(key, seq);

-- Turns that begin by themselves.
CREATE TABLE jobs (
  id    TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  next  INTEGER NOT NULL,
  last  INTEGER NOT NULL,
  body  TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX jobs_next ON jobs(next, id);
