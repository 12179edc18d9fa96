-- +goose Up
-- What runs, sessions and the ledger got for budgets, summaries, queue modes, group talk and scheduled jobs.

-- The session above all of a sub-agent, that nobody spawned: whose budget it uses.
ALTER TABLE sessions ADD COLUMN top text COLLATE "C" NOT NULL DEFAULT '';
UPDATE sessions SET top = (
  WITH RECURSIVE up (key, depth) AS (
    SELECT sessions.spawned_by, 1
    UNION ALL SELECT s.spawned_by, up.depth + 1 FROM up JOIN sessions s ON s.key = up.key WHERE s.spawned_by <> '' AND up.depth < 100)
  SELECT up.key FROM up ORDER BY up.depth DESC LIMIT 1)
WHERE spawned_by <> '';

-- The run whose turn answered this one's message as well.
ALTER TABLE runs ADD COLUMN batch text COLLATE "C" NOT NULL DEFAULT '';

-- What model calls cost. Rows stay when their session is deleted.
CREATE TABLE spends (
  num         bigint PRIMARY KEY,
  id          text COLLATE "C" NOT NULL UNIQUE, -- of the message that came of it, or one of its own
  at          bigint NOT NULL,
  run         text COLLATE "C" NOT NULL,
  key         text COLLATE "C" NOT NULL,
  payer       text COLLATE "C" NOT NULL,
  agent       text COLLATE "C" NOT NULL,
  model       text COLLATE "C" NOT NULL,
  purpose     text COLLATE "C" NOT NULL,
  input       bigint NOT NULL,
  output      bigint NOT NULL,
  cache_read  bigint NOT NULL,
  cache_write bigint NOT NULL,
  cost        bigint NOT NULL -- millionths of a dollar
);
CREATE INDEX spends_at ON spends(at);
CREATE INDEX spends_payer ON spends(payer, at);
CREATE INDEX spends_agent ON spends(agent, at);

-- Budgets that do not count until a time.
CREATE TABLE lifts (scope text COLLATE "C" PRIMARY KEY, until bigint NOT NULL);

-- What stands for the older part of a transcript where a model is shown it. The messages stay.
CREATE TABLE summaries (
  num        bigint PRIMARY KEY,
  id         text COLLATE "C" NOT NULL UNIQUE,
  transcript bigint NOT NULL,
  number     bigint NOT NULL, -- 1 = the first of its transcript
  upto       bigint NOT NULL, -- messages.seq of the last message that it covers
  at         bigint NOT NULL,
  body       text NOT NULL
);
CREATE UNIQUE INDEX summaries_transcript ON summaries(transcript, number);

-- Group talk that was not meant for the bot: context for the next turn there.
CREATE TABLE overheard (
  seq     bigint PRIMARY KEY,
  key     text COLLATE "C" NOT NULL,
  sender  text COLLATE "C" NOT NULL,
  name    text COLLATE "C" NOT NULL,
  message text COLLATE "C" NOT NULL,
  at      bigint NOT NULL,
  body    text NOT NULL
);
CREATE INDEX overheard_key ON overheard(key, seq);

-- Turns that begin by themselves.
CREATE TABLE jobs (
  id    text COLLATE "C" PRIMARY KEY,
  agent text COLLATE "C" NOT NULL,
  next  bigint NOT NULL,
  last  bigint NOT NULL,
  body  text NOT NULL
);
CREATE INDEX jobs_next ON jobs(next, id);
