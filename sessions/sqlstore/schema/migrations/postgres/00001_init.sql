-- +goose Up
-- Times are Unix milliseconds, 0 = none. Addresses are as Address.String writes them. Numbers (num, seq) are given by the one
-- writer, in order. What is never searched by lies in a JSON body.

CREATE TABLE meta (name text COLLATE "C" PRIMARY KEY, value bigint NOT NULL);
INSERT INTO meta (name, value) VALUES ('indexed', 0);

-- A transcript is what a session's id stands for; a reset gives the session a new one.
CREATE TABLE transcripts (
  num     bigint PRIMARY KEY,
  id      text COLLATE "C" NOT NULL UNIQUE,
  key     text COLLATE "C" NOT NULL,
  agent   text COLLATE "C" NOT NULL,
  created bigint NOT NULL,
  gone    bigint NOT NULL DEFAULT 0 -- its session was deleted; the messages follow in small steps
);
CREATE INDEX transcripts_key ON transcripts(key);
CREATE INDEX transcripts_gone ON transcripts(num) WHERE gone = 1;

CREATE TABLE sessions (
  num         bigint PRIMARY KEY,
  key         text COLLATE "C" NOT NULL UNIQUE,
  id          text COLLATE "C" NOT NULL UNIQUE,
  transcript  bigint NOT NULL,
  agent       text COLLATE "C" NOT NULL,
  title       text COLLATE "C" NOT NULL,
  label       text COLLATE "C" NOT NULL,
  last        text COLLATE "C" NOT NULL,
  spawned_by  text COLLATE "C" NOT NULL,
  above       text COLLATE "C" NOT NULL, -- agents above a sub-agent, its parent's first
  settings    text COLLATE "C" NOT NULL,
  usage       text COLLATE "C" NOT NULL,
  context     bigint NOT NULL,
  turns       bigint NOT NULL,
  by_agents   bigint NOT NULL, -- turns that other agents caused
  aborted     bigint NOT NULL,
  archived    bigint NOT NULL,
  archive_at  bigint NOT NULL,
  created     bigint NOT NULL,
  updated     bigint NOT NULL,
  find        text COLLATE "C" NOT NULL -- key, title and label in lower case
);
CREATE INDEX sessions_updated ON sessions(archived, updated);
CREATE INDEX sessions_agent ON sessions(agent, archived, updated);
CREATE INDEX sessions_parent ON sessions(spawned_by, updated) WHERE spawned_by <> '';
CREATE UNIQUE INDEX sessions_label ON sessions(label) WHERE label <> '' AND archived = 0 AND spawned_by = '';
CREATE INDEX sessions_archive ON sessions(archived, archive_at) WHERE archive_at > 0;

-- Which chats have written to which sessions.
CREATE TABLE heard (
  address text COLLATE "C" NOT NULL,
  key     text COLLATE "C" NOT NULL,
  PRIMARY KEY (address, key)
);
CREATE INDEX heard_key ON heard(key);

CREATE TABLE messages (
  seq        bigint PRIMARY KEY,
  id         text COLLATE "C" NOT NULL UNIQUE,
  transcript bigint NOT NULL,
  run        bigint NOT NULL, -- runs.seq, 0 = none
  role       text COLLATE "C" NOT NULL,
  body       text NOT NULL,
  words      tsvector -- of user and assistant messages
);
CREATE INDEX messages_transcript ON messages(transcript, seq);
CREATE INDEX messages_words ON messages USING gin (words);

CREATE TABLE runs (
  seq        bigint PRIMARY KEY,
  id         text COLLATE "C" NOT NULL UNIQUE,
  key        text COLLATE "C" NOT NULL,
  transcript bigint NOT NULL,
  session    text COLLATE "C" NOT NULL,
  parent     text COLLATE "C" NOT NULL, -- the requester of a spawn
  root       text COLLATE "C" NOT NULL, -- the first run of its chain, '' = no chain
  by_agent   bigint NOT NULL, -- 1: another agent caused it
  status     text COLLATE "C" NOT NULL,
  stop       bigint NOT NULL DEFAULT 0,
  attempt    bigint NOT NULL DEFAULT 0,
  first      bigint NOT NULL DEFAULT 0, -- messages.seq before its first step
  created    bigint NOT NULL,
  started    bigint NOT NULL DEFAULT 0,
  deadline   bigint NOT NULL DEFAULT 0,
  ended      bigint NOT NULL DEFAULT 0,
  body       text COLLATE "C" NOT NULL, -- what was asked for; never changes
  outcome    text COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX runs_key ON runs(key, seq);
CREATE INDEX runs_active ON runs(key, seq) WHERE status IN ('queued', 'running');
CREATE INDEX runs_parent ON runs(parent, seq) WHERE parent <> '';
CREATE INDEX runs_open_below ON runs(parent, seq) WHERE parent <> '' AND status IN ('queued', 'running');
CREATE INDEX runs_root ON runs(root, seq) WHERE root <> '';
CREATE INDEX runs_by_agent ON runs(key, created) WHERE by_agent = 1;

CREATE TABLE deliveries (
  seq         bigint PRIMARY KEY,
  id          text COLLATE "C" NOT NULL UNIQUE,
  session     text COLLATE "C" NOT NULL,
  run         bigint NOT NULL, -- runs.seq, 0 = none
  transcript  bigint NOT NULL, -- of the message that it carries, 0 = none
  message_seq bigint NOT NULL, -- messages.seq of it, 0 = none
  awaits      text COLLATE "C" NOT NULL, -- the id of that message while it is in no transcript yet
  address     text COLLATE "C" NOT NULL,
  state       text COLLATE "C" NOT NULL,
  part        bigint NOT NULL DEFAULT 0,
  attempt     bigint NOT NULL DEFAULT 0,
  again       bigint NOT NULL DEFAULT 0,
  not_before  bigint NOT NULL,
  expires     bigint NOT NULL,
  created     bigint NOT NULL,
  updated     bigint NOT NULL,
  body        text COLLATE "C" NOT NULL, -- what is to be sent; never changes
  result      text COLLATE "C" NOT NULL DEFAULT ''
);
CREATE INDEX deliveries_open ON deliveries(state, seq) WHERE state <> 'sent';
CREATE INDEX deliveries_session ON deliveries(session, seq) WHERE session <> '';
CREATE INDEX deliveries_run ON deliveries(run) WHERE run > 0;
CREATE INDEX deliveries_message ON deliveries(message_seq) WHERE message_seq > 0;
CREATE INDEX deliveries_awaits ON deliveries(awaits) WHERE awaits <> '';

-- Every event and source that was accepted, for dedupe and for tracing.
CREATE TABLE seen (
  num       bigint PRIMARY KEY,
  msg       text COLLATE "C" NOT NULL,
  address   text COLLATE "C" NOT NULL, -- without the thread: an event is unique in its chat
  event     text COLLATE "C" NOT NULL,
  thread    text COLLATE "C" NOT NULL,
  at        bigint NOT NULL,
  skip      text COLLATE "C" NOT NULL,
  run       text COLLATE "C" NOT NULL,
  delivery  bigint NOT NULL, -- the first of the deliveries made with it
  delivered bigint NOT NULL  -- how many
);
CREATE UNIQUE INDEX seen_event ON seen(msg, address, event);

CREATE TABLE skipped (num bigint PRIMARY KEY, at bigint NOT NULL, address text COLLATE "C" NOT NULL, msg text COLLATE "C" NOT NULL, reason text COLLATE "C" NOT NULL, raw text COLLATE "C" NOT NULL);
CREATE TABLE cursors (account text COLLATE "C" PRIMARY KEY, position text COLLATE "C" NOT NULL);

CREATE TABLE pairings (
  num     bigint PRIMARY KEY,
  channel text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  person  text COLLATE "C" NOT NULL,
  name    text COLLATE "C" NOT NULL,
  hash    text COLLATE "C" NOT NULL,
  created bigint NOT NULL,
  expires bigint NOT NULL,
  UNIQUE (channel, account, person)
);
CREATE TABLE paired (
  channel text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL,
  person  text COLLATE "C" NOT NULL,
  name    text COLLATE "C" NOT NULL,
  at      bigint NOT NULL,
  PRIMARY KEY (channel, account, person)
);

CREATE TABLE notes (num bigint PRIMARY KEY, agent text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, body text COLLATE "C" NOT NULL, at bigint NOT NULL);
CREATE INDEX notes_agent ON notes(agent, num);
