-- +goose Up
-- What chats on platforms need: where reading goes on, which messages are ours, which chats the account has written in.

-- The newest message that was accepted from the chat.
ALTER TABLE heard ADD COLUMN msg TEXT NOT NULL DEFAULT '';
ALTER TABLE heard ADD COLUMN at INTEGER NOT NULL DEFAULT 0;

-- The messages that platforms took from us.
CREATE TABLE receipts (
  num      INTEGER PRIMARY KEY,
  chat     TEXT NOT NULL, -- address without the thread
  msg      TEXT NOT NULL,
  delivery INTEGER NOT NULL, -- deliveries.seq
  at       INTEGER NOT NULL
);
CREATE INDEX receipts_msg ON receipts(chat, msg);

-- When an account wrote in a direct chat for the first time.
CREATE TABLE openings (
  chat    TEXT PRIMARY KEY, -- address without the thread
  account TEXT NOT NULL,
  at      INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX openings_account ON openings(account, at);
INSERT INTO openings (chat, account, at)
  SELECT DISTINCT address, '', 0 FROM deliveries
  WHERE (state = 'sent' OR part > 0) AND address LIKE '%/%/direct/%' AND address NOT LIKE '%/%/%/%/%';

-- Answers that are shown while they are being written.
CREATE TABLE previews (
  run     TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  address TEXT NOT NULL,
  key     TEXT NOT NULL,
  state   TEXT NOT NULL,
  msg     TEXT NOT NULL,
  text    TEXT NOT NULL, -- as it was sent
  quoted  TEXT NOT NULL, -- the message that it answers
  at      INTEGER NOT NULL
) WITHOUT ROWID;

-- The key of a chat that another one became, and the session that goes on there.
CREATE TABLE aliases (
  key    TEXT PRIMARY KEY,
  target TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX aliases_target ON aliases(target);

-- What chats were before: their newest old address. Rules that name the old one hold on.
CREATE TABLE moves (
  chat TEXT PRIMARY KEY, -- address without the thread
  was  TEXT NOT NULL
) WITHOUT ROWID;

-- Where the person wrote who asks to be let in: where the answer goes.
ALTER TABLE pairings ADD COLUMN address TEXT NOT NULL DEFAULT '';

-- What happened in a chat besides messages.
ALTER TABLE overheard ADD COLUMN event TEXT NOT NULL DEFAULT '';
ALTER TABLE overheard ADD COLUMN about TEXT NOT NULL DEFAULT '';
