-- +goose Up
-- Times are Unix milliseconds, 0 = none. Addresses are as Address.String writes them. Numbers (num, seq) are given by the one
-- writer, in order. What is never searched by lies in a JSON body.

CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO meta (name, value) VALUES ('indexed', 0);

-- A transcript is what a session's id stands for; a reset gives the session a new one.
CREATE TABLE transcripts (
  num     INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  key     TEXT NOT NULL,
  agent   TEXT NOT NULL,
  created INTEGER NOT NULL,
  gone    INTEGER NOT NULL DEFAULT 0 -- its session was deleted; the messages follow in small steps
);
CREATE INDEX transcripts_key ON transcripts(key);
CREATE INDEX transcripts_gone ON transcripts(num) WHERE gone = 1;

CREATE TABLE sessions (
  num         INTEGER PRIMARY KEY,
  key         TEXT NOT NULL UNIQUE,
  id          TEXT NOT NULL UNIQUE,
  transcript  INTEGER NOT NULL,
  agent       TEXT NOT NULL,
  title       TEXT NOT NULL,
  label       TEXT NOT NULL,
  last        TEXT NOT NULL,
  spawned_by  TEXT NOT NULL,
  above       TEXT NOT NULL, -- agents above a sub-agent, its parent's first
  settings    TEXT NOT NULL,
  usage       TEXT NOT NULL,
  context     INTEGER NOT NULL,
  turns       INTEGER NOT NULL,
  by_agents   INTEGER NOT NULL, -- turns that other agents caused
  aborted     INTEGER NOT NULL,
  archived    INTEGER NOT NULL,
  archive_at  INTEGER NOT NULL,
  created     INTEGER NOT NULL,
  updated     INTEGER NOT NULL,
  find        TEXT NOT NULL -- key, title and label in lower case
);
CREATE INDEX sessions_updated ON sessions(archived, updated);
CREATE INDEX sessions_agent ON sessions(agent, archived, updated);
CREATE INDEX sessions_parent ON sessions(spawned_by, updated) WHERE spawned_by <> '';
CREATE UNIQUE INDEX sessions_label ON sessions(label) WHERE label <> '' AND archived = 0 AND spawned_by = '';
CREATE INDEX sessions_archive ON sessions(archived, archive_at) WHERE archive_at > 0;

-- Which chats have written to which sessions.
CREATE TABLE heard (
  address TEXT NOT NULL,
  key     TEXT NOT NULL,
  PRIMARY KEY (address, key)
) WITHOUT ROWID;
CREATE INDEX heard_key ON heard(key);

CREATE TABLE messages (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  transcript INTEGER NOT NULL,
  run        INTEGER NOT NULL, -- runs.seq, 0 = none
  role       TEXT NOT NULL,
  body       TEXT NOT NULL
);
CREATE INDEX messages_transcript ON messages(transcript, seq);
-- The words of user and assistant messages. It holds no text, only which words stand in which message.
CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='ascii');

CREATE TABLE runs (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  key        TEXT NOT NULL,
  transcript INTEGER NOT NULL,
  session    TEXT NOT NULL,
  parent     TEXT NOT NULL, -- the requester of a spawn
  root       TEXT NOT NULL, -- the first run of its chain, '' = no chain
  by_agent   INTEGER NOT NULL, -- 1: another agent caused it
  status     TEXT NOT NULL,
  stop       INTEGER NOT NULL DEFAULT 0,
  attempt    INTEGER NOT NULL DEFAULT 0,
  first      INTEGER NOT NULL DEFAULT 0, -- messages.seq before its first step
  created    INTEGER NOT NULL,
  started    INTEGER NOT NULL DEFAULT 0,
  deadline   INTEGER NOT NULL DEFAULT 0,
  ended      INTEGER NOT NULL DEFAULT 0,
  body       TEXT NOT NULL, -- what was asked for; never changes
  outcome    TEXT NOT NULL DEFAULT ''
);
CREATE INDEX runs_key ON runs(key, seq);
CREATE INDEX runs_active ON runs(key, seq) WHERE status IN ('queued', 'running');
CREATE INDEX runs_parent ON runs(parent, seq) WHERE parent <> '';
CREATE INDEX runs_open_below ON runs(parent, seq) WHERE parent <> '' AND status IN ('queued', 'running');
CREATE INDEX runs_root ON runs(root, seq) WHERE root <> '';
CREATE INDEX runs_by_agent ON runs(key, created) WHERE by_agent = 1;

CREATE TABLE deliveries (
  seq         INTEGER PRIMARY KEY,
  id          TEXT NOT NULL UNIQUE,
  session     TEXT NOT NULL,
  run         INTEGER NOT NULL, -- runs.seq, 0 = none
  transcript  INTEGER NOT NULL, -- of the message that it carries, 0 = none
  message_seq INTEGER NOT NULL, -- messages.seq of it, 0 = none
  awaits      TEXT NOT NULL, -- the id of that message while it is in no transcript yet
  address     TEXT NOT NULL,
  state       TEXT NOT NULL,
  part        INTEGER NOT NULL DEFAULT 0,
  attempt     INTEGER NOT NULL DEFAULT 0,
  again       INTEGER NOT NULL DEFAULT 0,
  not_before  INTEGER NOT NULL,
  expires     INTEGER NOT NULL,
  created     INTEGER NOT NULL,
  updated     INTEGER NOT NULL,
  body        TEXT NOT NULL, -- what is to be sent; never changes
  result      TEXT NOT NULL DEFAULT ''
);
CREATE INDEX deliveries_open ON deliveries(state, seq) WHERE state <> 'sent';
CREATE INDEX deliveries_session ON deliveries(session, seq) WHERE session <> '';
CREATE INDEX deliveries_run ON deliveries(run) WHERE run > 0;
CREATE INDEX deliveries_message ON deliveries(message_seq) WHERE message_seq > 0;
CREATE INDEX deliveries_awaits ON deliveries(awaits) WHERE awaits <> '';

-- Every event and source that was accepted, for dedupe and for tracing.
CREATE TABLE seen (
  num       INTEGER PRIMARY KEY,
  msg       TEXT NOT NULL,
  address   TEXT NOT NULL, -- without the thread: an event is unique in its chat
  event     TEXT NOT NULL,
  thread    TEXT NOT NULL,
  at        INTEGER NOT NULL,
  skip      TEXT NOT NULL,
  run       TEXT NOT NULL,
  delivery  INTEGER NOT NULL, -- the first of the deliveries made with it
  delivered INTEGER NOT NULL  -- how many
);
CREATE UNIQUE INDEX seen_event ON seen(msg, address, event);

CREATE TABLE skipped (num INTEGER PRIMARY KEY, at INTEGER NOT NULL, address TEXT NOT NULL, msg TEXT NOT NULL, reason TEXT NOT NULL, raw TEXT NOT NULL);
CREATE TABLE cursors (account TEXT PRIMARY KEY, position TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE pairings (
  num     INTEGER PRIMARY KEY,
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  person  TEXT NOT NULL,
  name    TEXT NOT NULL,
  hash    TEXT NOT NULL,
  created INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  UNIQUE (channel, account, person)
);
CREATE TABLE paired (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  person  TEXT NOT NULL,
  name    TEXT NOT NULL,
  at      INTEGER NOT NULL,
  PRIMARY KEY (channel, account, person)
) WITHOUT ROWID;

CREATE TABLE notes (num INTEGER PRIMARY KEY, agent TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL);
CREATE INDEX notes_agent ON notes(agent, num);
