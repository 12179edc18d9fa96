-- +goose Up
-- What chats on platforms need: where reading goes on, which messages are ours, which chats the account has written in.

-- The newest message that was accepted from the chat.
ALTER TABLE heard ADD COLUMN msg text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE heard ADD COLUMN at bigint NOT NULL DEFAULT 0;

-- The messages that platforms took from us.
CREATE TABLE receipts (
  num      bigint PRIMARY KEY,
  chat     text COLLATE "C" NOT NULL, -- address without the thread
  msg      text COLLATE "C" NOT NULL,
  delivery bigint NOT NULL, -- deliveries.seq
  at       bigint NOT NULL
);
CREATE INDEX receipts_msg ON receipts(chat, msg);

-- When an account wrote in a direct chat for the first time.
CREATE TABLE openings (
  chat    text COLLATE "C" PRIMARY KEY, -- address without the thread
  account text COLLATE "C" NOT NULL,
  at      bigint NOT NULL
);
CREATE INDEX openings_account ON openings(account, at);
INSERT INTO openings (chat, account, at)
  SELECT DISTINCT address, '', 0 FROM deliveries
  WHERE (state = 'sent' OR part > 0) AND address LIKE '%/%/direct/%' AND address NOT LIKE '%/%/%/%/%';

-- Answers that are shown while they are being written.
CREATE TABLE previews (
  run     text COLLATE "C" PRIMARY KEY,
  session text COLLATE "C" NOT NULL,
  address text COLLATE "C" NOT NULL,
  key     text COLLATE "C" NOT NULL,
  state   text COLLATE "C" NOT NULL,
  msg     text COLLATE "C" NOT NULL,
  text    text COLLATE "C" NOT NULL, -- as it was sent
  quoted  text COLLATE "C" NOT NULL, -- the message that it answers
  at      bigint NOT NULL
);

-- The key of a chat that another one became, and the session that goes on there.
CREATE TABLE aliases (
  key    text COLLATE "C" PRIMARY KEY,
  target text COLLATE "C" NOT NULL
);
CREATE INDEX aliases_target ON aliases(target);

-- What chats were before: their newest old address. Rules that name the old one hold on.
CREATE TABLE moves (
  chat text COLLATE "C" PRIMARY KEY, -- address without the thread
  was  text COLLATE "C" NOT NULL
);

-- Where the person wrote who asks to be let in: where the answer goes.
ALTER TABLE pairings ADD COLUMN address text COLLATE "C" NOT NULL DEFAULT '';

-- What happened in a chat besides messages.
ALTER TABLE overheard ADD COLUMN event text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE overheard ADD COLUMN about text COLLATE "C" NOT NULL DEFAULT '';
