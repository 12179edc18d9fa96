-- Schema version 14. Taken at 2000-01-01T02:33:07Z, while the host was at work.
PRAGMA foreign_keys = OFF;
BEGIN;
CREATE TABLE goose_db_version (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		version_id INTEGER NOT NULL,
		is_applied INTEGER NOT NULL,
		tstamp TIMESTAMP DEFAULT (datetime('now'))
	);
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE transcripts (
  num     INTEGER PRIMARY KEY,
  id      TEXT NOT NULL UNIQUE,
  key     TEXT NOT NULL,
  agent   TEXT NOT NULL,
  created INTEGER NOT NULL,
  gone    INTEGER NOT NULL DEFAULT 0 -- its session was deleted; the messages follow in small steps
);
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
, top TEXT NOT NULL DEFAULT '', heard INTEGER NOT NULL DEFAULT 0);
CREATE TABLE heard (
  address TEXT NOT NULL,
  key     TEXT NOT NULL, msg TEXT NOT NULL DEFAULT '', at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (address, key)
) WITHOUT ROWID;
CREATE TABLE messages (
  seq        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  transcript INTEGER NOT NULL,
  run        INTEGER NOT NULL, -- runs.seq, 0 = none
  role       TEXT NOT NULL,
  body       TEXT NOT NULL
, opaque TEXT NOT NULL DEFAULT '');
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
, batch TEXT NOT NULL DEFAULT '');
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
, digest TEXT NOT NULL DEFAULT '');
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
  expires INTEGER NOT NULL, address TEXT NOT NULL DEFAULT '',
  UNIQUE (channel, account, person)
);
CREATE TABLE paired (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  person  TEXT NOT NULL,
  name    TEXT NOT NULL,
  at      INTEGER NOT NULL, owner INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (channel, account, person)
) WITHOUT ROWID;
CREATE TABLE notes (num INTEGER PRIMARY KEY, agent TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, at INTEGER NOT NULL, indexed INTEGER NOT NULL DEFAULT 0);
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
CREATE TABLE lifts (scope TEXT PRIMARY KEY, until INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE summaries (
  num        INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  transcript INTEGER NOT NULL,
  number     INTEGER NOT NULL, -- 1 = the first of its transcript
  upto       INTEGER NOT NULL, -- messages.seq of the last message that it covers
  at         INTEGER NOT NULL,
  body       TEXT NOT NULL
);
CREATE TABLE overheard (
  seq     INTEGER PRIMARY KEY,
  key     TEXT NOT NULL,
  sender  TEXT NOT NULL,
  name    TEXT NOT NULL,
  message TEXT NOT NULL,
  at      INTEGER NOT NULL,
  body    TEXT NOT NULL
, event TEXT NOT NULL DEFAULT '', about TEXT NOT NULL DEFAULT '');
CREATE TABLE jobs (
  id    TEXT PRIMARY KEY,
  agent TEXT NOT NULL,
  next  INTEGER NOT NULL,
  last  INTEGER NOT NULL,
  body  TEXT NOT NULL
) WITHOUT ROWID;
CREATE VIRTUAL TABLE note_words USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='ascii');
CREATE TABLE receipts (
  num      INTEGER PRIMARY KEY,
  chat     TEXT NOT NULL, -- address without the thread
  msg      TEXT NOT NULL,
  delivery INTEGER NOT NULL, -- deliveries.seq
  at       INTEGER NOT NULL
);
CREATE TABLE openings (
  chat    TEXT PRIMARY KEY, -- address without the thread
  account TEXT NOT NULL,
  at      INTEGER NOT NULL
) WITHOUT ROWID;
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
CREATE TABLE aliases (
  key    TEXT PRIMARY KEY,
  target TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE moves (
  chat TEXT PRIMARY KEY, -- address without the thread
  was  TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE occurrences (
  num     INTEGER PRIMARY KEY,
  job     TEXT NOT NULL,
  name    TEXT NOT NULL,
  agent   TEXT NOT NULL,
  due     INTEGER NOT NULL,
  at      INTEGER NOT NULL,
  forced  INTEGER NOT NULL,
  skipped TEXT NOT NULL, -- why nothing was begun
  run     TEXT NOT NULL
);
CREATE TABLE lessons (
  provider TEXT NOT NULL,
  address  TEXT NOT NULL,
  model    TEXT NOT NULL,
  kind     TEXT NOT NULL,
  name     TEXT NOT NULL,
  value    TEXT NOT NULL,
  instead  TEXT NOT NULL,
  evidence TEXT NOT NULL,
  config   TEXT NOT NULL,
  at       INTEGER NOT NULL,
  PRIMARY KEY (provider, address, model, kind, name, value)
);
CREATE TABLE owners (
  name TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  term INTEGER NOT NULL,
  seq  INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE identities (
  channel TEXT NOT NULL,
  was     TEXT NOT NULL,
  now     TEXT NOT NULL,
  PRIMARY KEY (channel, was)
) WITHOUT ROWID;
CREATE TABLE logins (
  channel  TEXT NOT NULL,
  account  TEXT NOT NULL,
  identity TEXT NOT NULL,
  became   TEXT NOT NULL DEFAULT '', former TEXT NOT NULL DEFAULT '', -- the account that took its place
  PRIMARY KEY (channel, account)
) WITHOUT ROWID;
INSERT INTO goose_db_version VALUES(1,0,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(2,1,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(3,2,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(4,3,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(5,4,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(6,5,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(7,6,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(8,7,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(9,8,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(10,9,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(11,10,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(12,11,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(13,12,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(14,13,1,'2000-01-01 00:00:00');
INSERT INTO goose_db_version VALUES(15,14,1,'2000-01-01 00:00:00');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('goose_db_version',15);
INSERT INTO meta VALUES('admitted',1);
INSERT INTO meta VALUES('commits',384);
INSERT INTO meta VALUES('indexed',84);
INSERT INTO transcripts VALUES(1,'00dc6acf-ac00-7000-af0e-0d36c8496db7','agent:main:fake:direct:1001','main',946684800000,0);
INSERT INTO transcripts VALUES(2,'00dc6ad4-3fe0-7000-878a-82d452f99c8e','agent:main:fake:group:here','main',946685100000,0);
INSERT INTO transcripts VALUES(3,'00dc6ad5-2a40-7001-9ff4-fae277ec58fd','agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b','main',946685160000,0);
INSERT INTO transcripts VALUES(4,'00dc6ad6-14a0-7000-992a-d3108ea4c90b','agent:main:fake:group:here','main',946685220000,0);
INSERT INTO transcripts VALUES(5,'00dc6ad7-e960-7000-9fab-6b426457126c','agent:main:fake:group:there','main',946685340000,0);
INSERT INTO transcripts VALUES(6,'00dc6ad9-be20-7000-ae9a-db76accccb75','agent:main:fake:group:here:topic:7','main',946685460000,0);
INSERT INTO transcripts VALUES(7,'00dc6ade-5200-7000-a508-2ad1c84a809d','agent:main:fake:group:wall','main',946685760000,0);
INSERT INTO transcripts VALUES(8,'00dc6adf-3c60-7000-a73a-4cd58738ea28','agent:main:fake:group:fog','main',946685820000,0);
INSERT INTO transcripts VALUES(9,'00dc6ae0-26c0-7000-b4b6-e903129fbee3','agent:main:fake:group:gone','main',946685880000,0);
INSERT INTO transcripts VALUES(10,'00dc6ae1-1120-7000-a988-bb804d435d34','agent:main:fake:group:old','main',946685940000,0);
INSERT INTO transcripts VALUES(11,'00dc6ae1-fb80-7000-a449-84ee45cc1a80','agent:main:fake:group:quiet','main',946686000000,0);
INSERT INTO transcripts VALUES(12,'00dc6ae2-e5e0-7000-9d36-1e59f0008974','agent:main:fake:group:broken','main',946686060000,0);
INSERT INTO transcripts VALUES(13,'00dc6ae7-79c0-7000-b80b-145da9ee7664','agent:main:fake:direct:3004','main',946686360000,0);
INSERT INTO transcripts VALUES(14,'00dc6ae8-6420-7000-b6fc-31b524f53fe5','agent:main:fake:group:brief','main',946686420000,0);
INSERT INTO transcripts VALUES(15,'00dc6ae9-4e80-7000-88ab-144442588b09','agent:main:fake:group:brief','main',946686480000,0);
INSERT INTO transcripts VALUES(17,'00dc6b2b-3980-7000-ab2b-7111ec938251','agent:main:cron:651470bc-a4a6-56f2-ad96-395a10e83f7f','main',946690800000,0);
INSERT INTO transcripts VALUES(18,'00dc6b59-0040-7000-9497-381c7b6219df','agent:main:fake:group:half','main',946693800000,0);
INSERT INTO transcripts VALUES(19,'00dc6b59-eaa0-7000-afca-0eefd24226fc','agent:main:fake:direct:5005','main',946693860000,0);
INSERT INTO transcripts VALUES(20,'00dc6b59-eaa0-7002-9f64-81eff98f787c','agent:main:subagent:586c8cbd-250e-58e8-82b2-4ba09b12cd22','main',946693860000,0);
INSERT INTO transcripts VALUES(21,'00dc6b5b-bf60-7000-89ad-659ec9d040fa','agent:main:fake:direct:2002','main',946693980000,0);
INSERT INTO transcripts VALUES(22,'00dc6b5b-c348-7000-afb5-a636c3330391','agent:main:fake:group:down','main',946693981000,0);
INSERT INTO transcripts VALUES(23,'00dc6b5b-dab8-7000-90fc-df03598f8b69','agent:main:fake:group:stuck','main',946693987000,0);
INSERT INTO sessions VALUES(1,'agent:main:fake:direct:1001','00dc6acf-ac00-7000-af0e-0d36c8496db7',1,'main','','','fake/default/direct/1001','','','','{"input":50,"output":25}',0,4,0,0,0,0,946684800000,946685040000,'agent:main:fake:direct:1001

','',946685040000);
INSERT INTO sessions VALUES(2,'agent:main:fake:group:here','00dc6ad6-14a0-7000-992a-d3108ea4c90b',4,'main','','','fake/default/group/here','','','','{"input":10,"output":5}',15,1,0,0,0,0,946685100000,946685280000,'agent:main:fake:group:here

','',946685280000);
INSERT INTO sessions VALUES(3,'agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b','00dc6ad5-2a40-7001-9ff4-fae277ec58fd',3,'main','','','','agent:main:fake:group:here','["main"]','','{"input":20,"output":10}',15,2,0,0,0,0,946685160000,946685160000,'agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b

','agent:main:fake:group:here',0);
INSERT INTO sessions VALUES(4,'agent:main:fake:group:there','00dc6ad7-e960-7000-9fab-6b426457126c',5,'main','','','fake/default/group/there','','','','{"input":50,"output":25}',15,4,1,0,0,0,946685340000,946693981000,'agent:main:fake:group:there

','',946693981000);
INSERT INTO sessions VALUES(5,'agent:main:fake:group:here:topic:7','00dc6ad9-be20-7000-ae9a-db76accccb75',6,'main','','','fake/default/group/here/7','','','{"sendPolicy":"deny","model":"mock/other"}','{"input":50,"output":25}',15,4,1,0,0,0,946685460000,946685700000,'agent:main:fake:group:here:topic:7

','',946685640000);
INSERT INTO sessions VALUES(6,'agent:main:fake:group:wall','00dc6ade-5200-7000-a508-2ad1c84a809d',7,'main','','','fake/default/group/wall','','','','{"input":10,"output":5}',15,1,0,0,0,0,946685760000,946685760000,'agent:main:fake:group:wall

','',946685760000);
INSERT INTO sessions VALUES(7,'agent:main:fake:group:fog','00dc6adf-3c60-7000-a73a-4cd58738ea28',8,'main','','','fake/default/group/fog','','','','{"input":10,"output":5}',15,1,0,0,0,0,946685820000,946685820000,'agent:main:fake:group:fog

','',946685820000);
INSERT INTO sessions VALUES(8,'agent:main:fake:group:gone','00dc6ae0-26c0-7000-b4b6-e903129fbee3',9,'main','','','fake/default/group/gone','','','','{"input":10,"output":5}',15,1,0,0,0,0,946685880000,946685880000,'agent:main:fake:group:gone

','',946685880000);
INSERT INTO sessions VALUES(9,'agent:main:fake:group:old','00dc6ae1-1120-7000-a988-bb804d435d34',10,'main','','','fake/default/group/new','','','','{"input":10,"output":5}',15,1,0,0,0,0,946685940000,946685940000,'agent:main:fake:group:old

','',946685940000);
INSERT INTO sessions VALUES(10,'agent:main:fake:group:quiet','00dc6ae1-fb80-7000-a449-84ee45cc1a80',11,'main','','','fake/default/group/quiet','','','','{"input":10,"output":5}',15,1,0,0,0,0,946686000000,946686000000,'agent:main:fake:group:quiet

','',946686000000);
INSERT INTO sessions VALUES(11,'agent:main:fake:group:broken','00dc6ae2-e5e0-7000-9d36-1e59f0008974',12,'main','','','fake/default/group/broken','','','','',0,2,0,0,0,0,946686060000,946686120000,'agent:main:fake:group:broken

','',946686120000);
INSERT INTO sessions VALUES(12,'agent:main:fake:direct:3004','00dc6ae7-79c0-7000-b80b-145da9ee7664',13,'main','','','fake/default/direct/3004','','','','{"input":10,"output":5}',15,1,0,0,0,0,946686360000,946686360000,'agent:main:fake:direct:3004

','',946686360000);
INSERT INTO sessions VALUES(13,'agent:main:fake:group:brief','00dc6ae9-4e80-7000-88ab-144442588b09',15,'main','','','fake/default/group/brief','','','','',0,0,0,0,1,0,946686420000,946686480000,'agent:main:fake:group:brief

','',946686480000);
INSERT INTO sessions VALUES(15,'agent:main:cron:651470bc-a4a6-56f2-ad96-395a10e83f7f','00dc6b2b-3980-7000-ab2b-7111ec938251',17,'main','apples','','','','','','{"input":10,"output":5}',15,1,0,0,0,0,946690800000,946690800000,'agent:main:cron:651470bc-a4a6-56f2-ad96-395a10e83f7f
apples
','agent:main:fake:group:there',0);
INSERT INTO sessions VALUES(16,'agent:main:fake:group:half','00dc6b59-0040-7000-9497-381c7b6219df',18,'main','','','fake/default/group/half','','','','{"input":10,"output":5}',15,1,0,0,0,0,946693800000,946693800000,'agent:main:fake:group:half

','',946693800000);
INSERT INTO sessions VALUES(17,'agent:main:fake:direct:5005','00dc6b59-eaa0-7000-afca-0eefd24226fc',19,'main','','','fake/default/direct/5005','','','','{"input":40,"output":20}',15,2,0,0,0,0,946693860000,946693981000,'agent:main:fake:direct:5005

','',946693981000);
INSERT INTO sessions VALUES(18,'agent:main:subagent:586c8cbd-250e-58e8-82b2-4ba09b12cd22','00dc6b59-eaa0-7002-9f64-81eff98f787c',20,'main','','','','agent:main:fake:direct:5005','["main"]','','',0,0,0,0,0,0,946693860000,946693860000,'agent:main:subagent:586c8cbd-250e-58e8-82b2-4ba09b12cd22

','agent:main:fake:direct:5005',0);
INSERT INTO sessions VALUES(19,'agent:main:fake:direct:2002','00dc6b5b-bf60-7000-89ad-659ec9d040fa',21,'main','','','fake/default/direct/2002','','','','',0,0,0,0,0,0,946693980000,946693980000,'agent:main:fake:direct:2002

','',946693980000);
INSERT INTO sessions VALUES(20,'agent:main:fake:group:down','00dc6b5b-c348-7000-afb5-a636c3330391',22,'main','','','fake/default/group/down','','','','{"input":10,"output":5}',15,1,0,0,0,0,946693981000,946693981000,'agent:main:fake:group:down

','',946693981000);
INSERT INTO sessions VALUES(21,'agent:main:fake:group:stuck','00dc6b5b-dab8-7000-90fc-df03598f8b69',23,'main','','','fake/default/group/stuck','','','','{"input":10,"output":5}',15,1,0,0,0,0,946693987000,946693987000,'agent:main:fake:group:stuck

','',946693987000);
INSERT INTO heard VALUES('fake/default/direct/1001','agent:main:fake:direct:1001','in-9',946685040000);
INSERT INTO heard VALUES('fake/default/direct/2002','agent:main:fake:direct:2002','in-64',946693980000);
INSERT INTO heard VALUES('fake/default/direct/3004','agent:main:fake:direct:3004','in-49',946686360000);
INSERT INTO heard VALUES('fake/default/direct/5005','agent:main:fake:direct:5005','in-67',946693981000);
INSERT INTO heard VALUES('fake/default/group/brief','agent:main:fake:group:brief','in-53',946686480000);
INSERT INTO heard VALUES('fake/default/group/broken','agent:main:fake:group:broken','in-41',946686120000);
INSERT INTO heard VALUES('fake/default/group/down','agent:main:fake:group:down','in-69',946693981000);
INSERT INTO heard VALUES('fake/default/group/fog','agent:main:fake:group:fog','in-34',946685820000);
INSERT INTO heard VALUES('fake/default/group/gone','agent:main:fake:group:gone','in-35',946685880000);
INSERT INTO heard VALUES('fake/default/group/half','agent:main:fake:group:half','in-58',946693800000);
INSERT INTO heard VALUES('fake/default/group/here','agent:main:fake:group:here','talk',946686420000);
INSERT INTO heard VALUES('fake/default/group/here/7','agent:main:fake:group:here:topic:7','in-32',946685700000);
INSERT INTO heard VALUES('fake/default/group/new','agent:main:fake:group:old','',0);
INSERT INTO heard VALUES('fake/default/group/quiet','agent:main:fake:group:quiet','in-38',946686000000);
INSERT INTO heard VALUES('fake/default/group/stuck','agent:main:fake:group:stuck','in-70',946693987000);
INSERT INTO heard VALUES('fake/default/group/there','agent:main:fake:group:there','in-68',946693981000);
INSERT INTO heard VALUES('fake/default/group/wall','agent:main:fake:group:wall','in-33',946685760000);
INSERT INTO messages VALUES(1,'dbe5882e-2579-4834-b2c1-bfc525454add',1,1,'user','{"id":"dbe5882e-2579-4834-b2c1-bfc525454add","role":"user","content":[{"type":"text","text":"hello"}],"timestamp":"2000-01-01T00:00:00Z","runId":"6ae6783f-4fbd-491b-aeb8-8b73a48ed247","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"message":"in-1","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(2,'00dc6acf-ac00-7001-a608-d5e20ffc2d12',1,1,'assistant','{"id":"00dc6acf-ac00-7001-a608-d5e20ffc2d12","role":"assistant","content":[{"type":"text","text":"I heard: hello"}],"timestamp":"2000-01-01T00:00:00Z","runId":"6ae6783f-4fbd-491b-aeb8-8b73a48ed247","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(3,'3a311de8-5bcd-4320-bb7c-831d1c902015',1,2,'user','{"id":"3a311de8-5bcd-4320-bb7c-831d1c902015","role":"user","content":[{"type":"text","text":"please remember something"}],"timestamp":"2000-01-01T00:01:00Z","runId":"ee635acc-a8a1-42d7-a766-63f3d4157247","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"message":"in-3","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(4,'00dc6ad0-9660-7000-9fb6-78d710f367fb',1,2,'assistant','{"id":"00dc6ad0-9660-7000-9fb6-78d710f367fb","role":"assistant","content":[{"type":"thinking","text":"I note that."},{"type":"toolCall","id":"c1","name":"remember","arguments":{"text":"The cat is called Mimi"}}],"timestamp":"2000-01-01T00:01:00Z","runId":"ee635acc-a8a1-42d7-a766-63f3d4157247","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"toolUse"}','[{"at":0,"from":"mock","data":"{\"signature\":\"c2VhbA==\"}"},{"at":1,"from":"mock","data":"\"c2Vjb25k\""}]');
INSERT INTO messages VALUES(5,'00dc6ad0-9660-7001-b743-03f2209ea453',1,2,'toolResult','{"id":"00dc6ad0-9660-7001-b743-03f2209ea453","role":"toolResult","content":[{"type":"text","text":"{\"status\":\"ok\"}"}],"timestamp":"2000-01-01T00:01:00Z","runId":"ee635acc-a8a1-42d7-a766-63f3d4157247","toolCallId":"c1","toolName":"remember"}','');
INSERT INTO messages VALUES(6,'00dc6ad0-9660-7002-9451-71bb9af2b298',1,2,'assistant','{"id":"00dc6ad0-9660-7002-9451-71bb9af2b298","role":"assistant","content":[{"type":"text","text":"Done, said the tool."}],"timestamp":"2000-01-01T00:01:00Z","runId":"ee635acc-a8a1-42d7-a766-63f3d4157247","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(7,'8cd8464d-31a6-4d4d-bc92-8ac8812b65af',1,3,'user','{"id":"8cd8464d-31a6-4d4d-bc92-8ac8812b65af","role":"user","content":[{"type":"text","text":"what do you know?"}],"timestamp":"2000-01-01T00:02:00Z","runId":"e498a123-19cf-4ec1-8b15-52d077866cff","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"message":"in-5","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(8,'00dc6ad1-80c0-7000-b7d1-000930f8eecd',1,3,'assistant','{"id":"00dc6ad1-80c0-7000-b7d1-000930f8eecd","role":"assistant","content":[{"type":"text","text":"I heard: what do you know?"}],"timestamp":"2000-01-01T00:02:00Z","runId":"e498a123-19cf-4ec1-8b15-52d077866cff","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(9,'a70e2b99-f3fd-4481-b068-5b0020f82928',1,5,'user','{"id":"a70e2b99-f3fd-4481-b068-5b0020f82928","role":"user","content":[{"type":"text","text":"one more thing"}],"timestamp":"2000-01-01T00:04:00Z","runId":"ffb9da32-cbf3-417b-996d-5088db91b4bd","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"message":"in-9","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(10,'00dc6ad3-5580-7000-8ce1-b146bece598b',1,5,'assistant','{"id":"00dc6ad3-5580-7000-8ce1-b146bece598b","role":"assistant","content":[{"type":"text","text":"I heard: one more thing"}],"timestamp":"2000-01-01T00:04:00Z","runId":"ffb9da32-cbf3-417b-996d-5088db91b4bd","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(11,'5f25ac37-a0de-45d0-8bbf-af082a0e3c3c',2,6,'user','{"id":"5f25ac37-a0de-45d0-8bbf-af082a0e3c3c","role":"user","content":[{"type":"text","text":"2002: hello here"}],"timestamp":"2000-01-01T00:05:00Z","runId":"6dfec284-257a-42cf-a88c-da576ae5e204","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"here","type":"group"},"addressed":true,"message":"in-11","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(12,'00dc6ad4-3fe0-7001-9942-47bcfd10b305',2,6,'assistant','{"id":"00dc6ad4-3fe0-7001-9942-47bcfd10b305","role":"assistant","content":[{"type":"text","text":"I heard: 2002: hello here"}],"timestamp":"2000-01-01T00:05:00Z","runId":"6dfec284-257a-42cf-a88c-da576ae5e204","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(13,'a1b21dbf-348b-4f59-933e-57303265b83c',2,7,'user','{"id":"a1b21dbf-348b-4f59-933e-57303265b83c","role":"user","content":[{"type":"text","text":"2002: delegate: count the apples"}],"timestamp":"2000-01-01T00:06:00Z","runId":"d4545e34-e106-4c59-97b9-98d6639690ea","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"here","type":"group"},"addressed":true,"message":"in-13","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(14,'00dc6ad5-2a40-7000-b612-dd79f70c661a',2,7,'assistant','{"id":"00dc6ad5-2a40-7000-b612-dd79f70c661a","role":"assistant","content":[{"type":"toolCall","id":"c1","name":"sessions_spawn","arguments":{"task":"count the apples"}}],"timestamp":"2000-01-01T00:06:00Z","runId":"d4545e34-e106-4c59-97b9-98d6639690ea","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"toolUse"}','');
INSERT INTO messages VALUES(15,'bbd4f696-3efa-4ac9-a8af-8c4b2fdaffd6',3,8,'user','{"id":"bbd4f696-3efa-4ac9-a8af-8c4b2fdaffd6","role":"user","content":[{"type":"text","text":"count the apples"}],"timestamp":"2000-01-01T00:06:00Z","runId":"266c66ea-b0e4-58be-9b3a-c99873050520","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:fake:group:here","sourceChannel":"fake","sourceTool":"sessions_spawn"}}','');
INSERT INTO messages VALUES(16,'00dc6ad5-2a40-7002-bbb7-0b210f0312b1',3,8,'assistant','{"id":"00dc6ad5-2a40-7002-bbb7-0b210f0312b1","role":"assistant","content":[{"type":"text","text":"I heard: count the apples"}],"timestamp":"2000-01-01T00:06:00Z","runId":"266c66ea-b0e4-58be-9b3a-c99873050520","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(17,'eba7b8e0-bfcd-4354-9a71-6664059ee341',3,9,'user','{"id":"eba7b8e0-bfcd-4354-9a71-6664059ee341","role":"user","content":[{"type":"text","text":"Announce step."}],"timestamp":"2000-01-01T00:06:00Z","runId":"3c485fb6-fcf8-41fd-bf09-0e813b04c3cb","provenance":{"kind":"internal_system","sourceSessionKey":"agent:main:fake:group:here","sourceTool":"announce"}}','');
INSERT INTO messages VALUES(18,'00dc6ad5-2a40-7003-be45-871d72ea3d6f',3,9,'assistant','{"id":"00dc6ad5-2a40-7003-be45-871d72ea3d6f","role":"assistant","content":[{"type":"text","text":"Status: fine\nResult: four apples\nNotes: none"}],"timestamp":"2000-01-01T00:06:00Z","runId":"3c485fb6-fcf8-41fd-bf09-0e813b04c3cb","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(19,'00dc6ad5-2a40-7004-9f63-8e055026d4fe',2,7,'toolResult','{"id":"00dc6ad5-2a40-7004-9f63-8e055026d4fe","role":"toolResult","content":[{"type":"text","text":"{\"status\":\"accepted\",\"runId\":\"266c66ea-b0e4-58be-9b3a-c99873050520\",\"childSessionKey\":\"agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b\"}"}],"timestamp":"2000-01-01T00:06:00Z","runId":"d4545e34-e106-4c59-97b9-98d6639690ea","toolCallId":"c1","toolName":"sessions_spawn"}','');
INSERT INTO messages VALUES(20,'00dc6ad5-2a40-7005-95c0-6c4e2c0ff719',2,7,'assistant','{"id":"00dc6ad5-2a40-7005-95c0-6c4e2c0ff719","role":"assistant","content":[{"type":"text","text":"Done, said the tool."}],"timestamp":"2000-01-01T00:06:00Z","runId":"d4545e34-e106-4c59-97b9-98d6639690ea","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(21,'b2654468-436b-46a2-a40d-536604f4ba22',2,10,'assistant','{"id":"b2654468-436b-46a2-a40d-536604f4ba22","role":"assistant","content":[{"type":"text","text":"Status: success\n\nResult:\nfour apples\n\nNotes:\nnone\n\nStats: `count the apples` • runtime 0s • tokens 15 (in 10 / out 5) • sessionKey `agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b` • sessionId `00dc6ad5-2a40-7001-9ff4-fae277ec58fd` • transcript `/dev/shm/parley-test-4291060544/agents/main/sessions/00dc6ad5-2a40-7001-9ff4-fae277ec58fd.jsonl`"}],"timestamp":"2000-01-01T00:06:00Z","runId":"d83e9f18-7924-482b-aada-d4bd26d083e9","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b","sourceTool":"sessions_spawn"},"model":"parley/post","stopReason":"stop"}','');
INSERT INTO messages VALUES(22,'cae753ba-8c2e-4cf5-bb9c-3e3e97425236',4,11,'user','{"id":"cae753ba-8c2e-4cf5-bb9c-3e3e97425236","role":"user","content":[{"type":"text","text":"2002: we begin anew"}],"timestamp":"2000-01-01T00:08:00Z","runId":"0c418cc4-29c9-4879-a4c5-2b6b65db36cb","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"here","type":"group"},"addressed":true,"message":"in-18","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(23,'00dc6ad6-ff00-7000-b689-8c48db30b7aa',4,11,'assistant','{"id":"00dc6ad6-ff00-7000-b689-8c48db30b7aa","role":"assistant","content":[{"type":"text","text":"I heard: 2002: we begin anew"}],"timestamp":"2000-01-01T00:08:00Z","runId":"0c418cc4-29c9-4879-a4c5-2b6b65db36cb","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(24,'2b1b91a4-c6d3-4777-bb91-eae13ee2f857',5,12,'user','{"id":"2b1b91a4-c6d3-4777-bb91-eae13ee2f857","role":"user","content":[{"type":"text","text":"2002: hello there"}],"timestamp":"2000-01-01T00:09:00Z","runId":"e4a72c06-0da6-428e-8ff8-20dfb6880a8d","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"there","type":"group"},"addressed":true,"message":"in-20","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(25,'00dc6ad7-e960-7001-b3ea-4dc8afc0c3e9',5,12,'assistant','{"id":"00dc6ad7-e960-7001-b3ea-4dc8afc0c3e9","role":"assistant","content":[{"type":"text","text":"I heard: 2002: hello there"}],"timestamp":"2000-01-01T00:09:00Z","runId":"e4a72c06-0da6-428e-8ff8-20dfb6880a8d","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(26,'2002cb79-872a-4f60-8e94-512e9e2635a7',5,13,'user','{"id":"2002cb79-872a-4f60-8e94-512e9e2635a7","role":"user","content":[{"type":"text","text":"2002: each time: the apples"}],"timestamp":"2000-01-01T00:10:00Z","runId":"9642da96-6928-49b9-8d6f-b5cc65a0e5a7","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"there","type":"group"},"addressed":true,"message":"in-22","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(27,'00dc6ad8-d3c0-7000-8a96-07351327a147',5,13,'assistant','{"id":"00dc6ad8-d3c0-7000-8a96-07351327a147","role":"assistant","content":[{"type":"toolCall","id":"c1","name":"cron","arguments":{"action":"add","every":"90m","message":"count the apples again","name":"apples"}}],"timestamp":"2000-01-01T00:10:00Z","runId":"9642da96-6928-49b9-8d6f-b5cc65a0e5a7","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"toolUse"}','');
INSERT INTO messages VALUES(28,'00dc6ad8-d3c0-7001-863e-decebf9c8541',5,13,'toolResult','{"id":"00dc6ad8-d3c0-7001-863e-decebf9c8541","role":"toolResult","content":[{"type":"text","text":"{\"status\":\"added\",\"job\":{\"id\":\"651470bc-a4a6-56f2-ad96-395a10e83f7f\",\"name\":\"apples\",\"when\":\"every 1h30m\",\"next\":\"2000-01-01T01:40:00Z\",\"message\":\"count the apples again\",\"from\":\"agent:main:fake:group:there\"}}"}],"timestamp":"2000-01-01T00:10:00Z","runId":"9642da96-6928-49b9-8d6f-b5cc65a0e5a7","toolCallId":"c1","toolName":"cron"}','');
INSERT INTO messages VALUES(29,'00dc6ad8-d3c0-7002-8688-6431b1d45325',5,13,'assistant','{"id":"00dc6ad8-d3c0-7002-8688-6431b1d45325","role":"assistant","content":[{"type":"text","text":"Done, said the tool."}],"timestamp":"2000-01-01T00:10:00Z","runId":"9642da96-6928-49b9-8d6f-b5cc65a0e5a7","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(30,'e059afb4-aab1-4186-b38e-3a3e4043220d',6,14,'user','{"id":"e059afb4-aab1-4186-b38e-3a3e4043220d","role":"user","content":[{"type":"text","text":"1001: hello topic"}],"timestamp":"2000-01-01T00:11:00Z","runId":"c474e22a-740f-4a50-816c-e351245549ff","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"addressed":true,"message":"in-24","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(31,'00dc6ad9-be20-7001-9a9c-59746e00ae9a',6,14,'assistant','{"id":"00dc6ad9-be20-7001-9a9c-59746e00ae9a","role":"assistant","content":[{"type":"text","text":"I heard: 1001: hello topic"}],"timestamp":"2000-01-01T00:11:00Z","runId":"c474e22a-740f-4a50-816c-e351245549ff","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(32,'dcf1e535-b2f1-4b85-8b92-48900764ab0e',6,15,'user','{"id":"dcf1e535-b2f1-4b85-8b92-48900764ab0e","role":"user","content":[{"type":"text","text":"1001: ask there: what is new?"}],"timestamp":"2000-01-01T00:12:00Z","runId":"092d3745-e392-4da7-82c5-8f9f06c15b8c","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"addressed":true,"message":"in-26","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(33,'00dc6ada-a880-7000-86b9-60dbbe4a08c3',6,15,'assistant','{"id":"00dc6ada-a880-7000-86b9-60dbbe4a08c3","role":"assistant","content":[{"type":"toolCall","id":"c1","name":"sessions_send","arguments":{"message":"what is new?","sessionKey":"agent:main:fake:group:there","timeoutSeconds":0}}],"timestamp":"2000-01-01T00:12:00Z","runId":"092d3745-e392-4da7-82c5-8f9f06c15b8c","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"toolUse"}','');
INSERT INTO messages VALUES(34,'dc909ceb-d45b-4ef7-b448-347cd9223516',5,16,'user','{"id":"dc909ceb-d45b-4ef7-b448-347cd9223516","role":"user","content":[{"type":"text","text":"what is new?"}],"timestamp":"2000-01-01T00:12:00Z","runId":"98c29f02-0eca-4894-a6de-ba23f7cb5594","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:fake:group:here:topic:7","sourceChannel":"fake","sourceTool":"sessions_send"}}','');
INSERT INTO messages VALUES(35,'00dc6ada-a880-7002-a732-828ac1a6746c',5,16,'assistant','{"id":"00dc6ada-a880-7002-a732-828ac1a6746c","role":"assistant","content":[{"type":"text","text":"I heard: what is new?"}],"timestamp":"2000-01-01T00:12:00Z","runId":"98c29f02-0eca-4894-a6de-ba23f7cb5594","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(36,'00dc6ada-a880-7001-b087-577b6d577dfc',6,15,'toolResult','{"id":"00dc6ada-a880-7001-b087-577b6d577dfc","role":"toolResult","content":[{"type":"text","text":"{\"runId\":\"98c29f02-0eca-4894-a6de-ba23f7cb5594\",\"status\":\"accepted\",\"sessionKey\":\"agent:main:fake:group:there\",\"delivery\":{\"status\":\"pending\",\"mode\":\"announce\"}}"}],"timestamp":"2000-01-01T00:12:00Z","runId":"092d3745-e392-4da7-82c5-8f9f06c15b8c","toolCallId":"c1","toolName":"sessions_send"}','');
INSERT INTO messages VALUES(37,'00dc6ada-a880-7003-9ab6-68040c7a8247',6,15,'assistant','{"id":"00dc6ada-a880-7003-9ab6-68040c7a8247","role":"assistant","content":[{"type":"text","text":"Done, said the tool."}],"timestamp":"2000-01-01T00:12:00Z","runId":"092d3745-e392-4da7-82c5-8f9f06c15b8c","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(38,'12b33e96-8247-45b0-8ddd-345365e43718',6,17,'user','{"id":"12b33e96-8247-45b0-8ddd-345365e43718","role":"user","content":[{"type":"text","text":"I heard: what is new?"}],"timestamp":"2000-01-01T00:12:00Z","runId":"0a919ab2-5ea9-41dc-b98a-a183fe6899d4","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:fake:group:there","sourceTool":"sessions_send"}}','');
INSERT INTO messages VALUES(39,'00dc6ada-a880-7004-9cca-65d16cd953be',6,17,'assistant','{"id":"00dc6ada-a880-7004-9cca-65d16cd953be","role":"assistant","content":[{"type":"text","text":"REPLY_SKIP"}],"timestamp":"2000-01-01T00:12:00Z","runId":"0a919ab2-5ea9-41dc-b98a-a183fe6899d4","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(40,'4e10422f-a739-4fda-9e32-1bbc50031964',5,18,'user','{"id":"4e10422f-a739-4fda-9e32-1bbc50031964","role":"user","content":[{"type":"text","text":"Announce step."}],"timestamp":"2000-01-01T00:12:00Z","runId":"98d055e5-0acc-4ab7-9b64-b111eec7e0bc","provenance":{"kind":"internal_system","sourceSessionKey":"agent:main:fake:group:here:topic:7","sourceTool":"announce"}}','');
INSERT INTO messages VALUES(41,'00dc6ada-a880-7005-9a42-919a586f9feb',5,18,'assistant','{"id":"00dc6ada-a880-7005-9a42-919a586f9feb","role":"assistant","content":[{"type":"text","text":"The other session was asked."}],"timestamp":"2000-01-01T00:12:00Z","runId":"98d055e5-0acc-4ab7-9b64-b111eec7e0bc","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(42,'bf449a5d-318f-44d7-adf1-d51ffd70e1a1',6,19,'user','{"id":"bf449a5d-318f-44d7-adf1-d51ffd70e1a1","role":"user","content":[{"type":"text","text":"1001: this is withheld"}],"timestamp":"2000-01-01T00:14:00Z","runId":"d99614dd-2749-486c-aa06-5aac61f02ed3","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"addressed":true,"message":"in-31","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(43,'00dc6adc-7d40-7000-bbaf-2476c5f49529',6,19,'assistant','{"id":"00dc6adc-7d40-7000-bbaf-2476c5f49529","role":"assistant","content":[{"type":"text","text":"I heard: 1001: this is withheld"}],"timestamp":"2000-01-01T00:14:00Z","runId":"d99614dd-2749-486c-aa06-5aac61f02ed3","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(44,'6f1caf84-fc51-4599-8ed6-3f2074ec9cf6',7,20,'user','{"id":"6f1caf84-fc51-4599-8ed6-3f2074ec9cf6","role":"user","content":[{"type":"text","text":"2002: hello wall"}],"timestamp":"2000-01-01T00:16:00Z","runId":"d3f6007e-a973-480f-8155-9889ab92f685","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"wall","type":"group"},"addressed":true,"message":"in-33","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(45,'00dc6ade-5200-7001-924f-98a956a426ba',7,20,'assistant','{"id":"00dc6ade-5200-7001-924f-98a956a426ba","role":"assistant","content":[{"type":"text","text":"I heard: 2002: hello wall"}],"timestamp":"2000-01-01T00:16:00Z","runId":"d3f6007e-a973-480f-8155-9889ab92f685","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(46,'a53b24a8-b5f2-4353-99bc-53f2235ee896',8,21,'user','{"id":"a53b24a8-b5f2-4353-99bc-53f2235ee896","role":"user","content":[{"type":"text","text":"2002: hello fog"}],"timestamp":"2000-01-01T00:17:00Z","runId":"8a189557-9150-445b-a676-7cf7a3298dfc","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"fog","type":"group"},"addressed":true,"message":"in-34","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(47,'00dc6adf-3c60-7001-9ccc-bfde3d42231c',8,21,'assistant','{"id":"00dc6adf-3c60-7001-9ccc-bfde3d42231c","role":"assistant","content":[{"type":"text","text":"I heard: 2002: hello fog"}],"timestamp":"2000-01-01T00:17:00Z","runId":"8a189557-9150-445b-a676-7cf7a3298dfc","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(48,'b24ecb8c-8829-477b-b3a5-425e76f4dfd9',9,22,'user','{"id":"b24ecb8c-8829-477b-b3a5-425e76f4dfd9","role":"user","content":[{"type":"text","text":"2002: hello gone"}],"timestamp":"2000-01-01T00:18:00Z","runId":"f439dbb9-87da-4c3a-b4de-ae23fca47314","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"gone","type":"group"},"addressed":true,"message":"in-35","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(49,'00dc6ae0-26c0-7001-bc1a-3a18f10f92c4',9,22,'assistant','{"id":"00dc6ae0-26c0-7001-bc1a-3a18f10f92c4","role":"assistant","content":[{"type":"text","text":"I heard: 2002: hello gone"}],"timestamp":"2000-01-01T00:18:00Z","runId":"f439dbb9-87da-4c3a-b4de-ae23fca47314","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(50,'5eac1661-ba0e-4e2d-93e2-abc606fbe274',10,23,'user','{"id":"5eac1661-ba0e-4e2d-93e2-abc606fbe274","role":"user","content":[{"type":"text","text":"2002: hello old"}],"timestamp":"2000-01-01T00:19:00Z","runId":"57371aa4-e6ef-4ead-8add-e7c13fe185f9","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"old","type":"group"},"addressed":true,"message":"in-36","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(51,'00dc6ae1-1120-7001-8665-f889f985457a',10,23,'assistant','{"id":"00dc6ae1-1120-7001-8665-f889f985457a","role":"assistant","content":[{"type":"text","text":"I heard: 2002: hello old"}],"timestamp":"2000-01-01T00:19:00Z","runId":"57371aa4-e6ef-4ead-8add-e7c13fe185f9","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(52,'78e4b8e6-fe0f-4ff7-90a1-b5bf4367f978',11,24,'user','{"id":"78e4b8e6-fe0f-4ff7-90a1-b5bf4367f978","role":"user","content":[{"type":"text","text":"2002: hello quiet"}],"timestamp":"2000-01-01T00:20:00Z","runId":"c37ea62e-8ed0-4f93-852b-b62033c18f01","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"quiet","type":"group"},"addressed":true,"message":"in-38","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(53,'00dc6ae1-fb80-7001-b949-4594602b8ef5',11,24,'assistant','{"id":"00dc6ae1-fb80-7001-b949-4594602b8ef5","role":"assistant","content":[{"type":"text","text":"I heard: 2002: hello quiet"}],"timestamp":"2000-01-01T00:20:00Z","runId":"c37ea62e-8ed0-4f93-852b-b62033c18f01","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(54,'3c56cef5-799a-44dc-a162-411a404411fe',12,25,'user','{"id":"3c56cef5-799a-44dc-a162-411a404411fe","role":"user","content":[{"type":"text","text":"2002: it breaks off"}],"timestamp":"2000-01-01T00:21:00Z","runId":"eb52c761-f1f9-4b21-a6ca-b171d33425c1","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"broken","type":"group"},"addressed":true,"message":"in-39","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(55,'b863f413-52ff-453e-8fcc-9cf3008af93a',12,25,'assistant','{"id":"b863f413-52ff-453e-8fcc-9cf3008af93a","role":"assistant","content":[{"type":"text","text":"Something went wrong while I was working on this. The details are in the log."}],"timestamp":"2000-01-01T00:21:00Z","runId":"eb52c761-f1f9-4b21-a6ca-b171d33425c1","model":"parley/notice","stopReason":"error","errorMessage":"model provider mock/m: unknown (tries 1, status 0): the model says no"}','');
INSERT INTO messages VALUES(56,'66e4abe7-be73-4488-83f5-f839ff9ff0c5',12,26,'user','{"id":"66e4abe7-be73-4488-83f5-f839ff9ff0c5","role":"user","content":[{"type":"text","text":"2002: it is refused"}],"timestamp":"2000-01-01T00:22:00Z","runId":"e684aa1c-fef5-4267-8dbc-088ef4d0f87d","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"broken","type":"group"},"addressed":true,"message":"in-41","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(57,'9faa9331-6aa6-42e1-82ed-eebe1054633f',12,26,'assistant','{"id":"9faa9331-6aa6-42e1-82ed-eebe1054633f","role":"assistant","content":[{"type":"text","text":"The language model refused to answer this. I leave the message out of what it is shown from now on. If it goes on refusing, /new starts over."}],"timestamp":"2000-01-01T00:22:00Z","runId":"e684aa1c-fef5-4267-8dbc-088ef4d0f87d","model":"parley/notice","stopReason":"error","errorMessage":"model provider mock: refused (tries 1, status 400): content_filter","refused":true,"refusedBy":"mock/m"}','');
INSERT INTO messages VALUES(58,'44979965-b049-46f3-86bc-a4cbe9427c2e',13,27,'user','{"id":"44979965-b049-46f3-86bc-a4cbe9427c2e","role":"user","content":[{"type":"text","text":"thank you"}],"timestamp":"2000-01-01T00:26:00Z","runId":"db1ef0b9-a382-4746-b081-9699af4509d7","provenance":{"kind":"external_user","sender":"3004","name":"3004","address":{"channel":"fake","account":"default","chat":"3004","type":"direct"},"message":"in-49","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(59,'00dc6ae7-79c0-7001-91ac-ccd2de1f66ca',13,27,'assistant','{"id":"00dc6ae7-79c0-7001-91ac-ccd2de1f66ca","role":"assistant","content":[{"type":"text","text":"I heard: thank you"}],"timestamp":"2000-01-01T00:26:00Z","runId":"db1ef0b9-a382-4746-b081-9699af4509d7","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(60,'728c539f-4969-4a02-bd44-6a952ce898ab',14,28,'user','{"id":"728c539f-4969-4a02-bd44-6a952ce898ab","role":"user","content":[{"type":"text","text":"2002: hello"}],"timestamp":"2000-01-01T00:27:00Z","runId":"bee8c17e-c16d-4c3b-92e7-1589e58770b4","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"brief","type":"group"},"addressed":true,"message":"in-51","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(61,'00dc6ae8-6420-7001-8fbe-ff3d7ade7b2b',14,28,'assistant','{"id":"00dc6ae8-6420-7001-8fbe-ff3d7ade7b2b","role":"assistant","content":[{"type":"text","text":"I heard: 2002: hello"}],"timestamp":"2000-01-01T00:27:00Z","runId":"bee8c17e-c16d-4c3b-92e7-1589e58770b4","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(64,'48a1ddb9-5de0-4226-8653-46835d266f94',17,30,'user','{"id":"48a1ddb9-5de0-4226-8653-46835d266f94","role":"user","content":[{"type":"text","text":"count the apples again"}],"timestamp":"2000-01-01T01:40:00Z","runId":"21657b07-b299-568f-9784-662a352bd8f2","provenance":{"kind":"internal_system","sourceSessionKey":"agent:main:fake:group:there","sourceTool":"cron"}}','');
INSERT INTO messages VALUES(65,'00dc6b2b-3980-7001-a5d6-04fead7d826f',17,30,'assistant','{"id":"00dc6b2b-3980-7001-a5d6-04fead7d826f","role":"assistant","content":[{"type":"text","text":"I heard: count the apples again"}],"timestamp":"2000-01-01T01:40:00Z","runId":"21657b07-b299-568f-9784-662a352bd8f2","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(66,'78682a2e-68f6-4922-a0d8-6c72b5d29214',5,31,'assistant','{"id":"78682a2e-68f6-4922-a0d8-6c72b5d29214","role":"assistant","content":[{"type":"text","text":"I heard: count the apples again"}],"timestamp":"2000-01-01T01:40:00Z","runId":"ee248055-cc83-42b1-99ff-ea2aa5212fc0","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:cron:651470bc-a4a6-56f2-ad96-395a10e83f7f","sourceTool":"cron"},"model":"parley/post","stopReason":"stop"}','');
INSERT INTO messages VALUES(67,'ea29fc91-786e-49ae-9ac4-733bcecf2381',18,32,'user','{"id":"ea29fc91-786e-49ae-9ac4-733bcecf2381","role":"user","content":[{"type":"text","text":"2002: a long story"}],"timestamp":"2000-01-01T02:30:00Z","runId":"81a27822-ac1a-453c-8e17-273d69309524","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"half","type":"group"},"addressed":true,"message":"in-58","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(68,'00dc6b59-0040-7001-81ec-e65904740855',18,32,'assistant','{"id":"00dc6b59-0040-7001-81ec-e65904740855","role":"assistant","content":[{"type":"text","text":"Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. "}],"timestamp":"2000-01-01T02:30:00Z","runId":"81a27822-ac1a-453c-8e17-273d69309524","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(69,'79c53998-df8d-4764-a3fd-498b9cbbb497',19,33,'user','{"id":"79c53998-df8d-4764-a3fd-498b9cbbb497","role":"user","content":[{"type":"text","text":"delegate: works on the pears"}],"timestamp":"2000-01-01T02:31:00Z","runId":"f5701508-2f5f-4d7d-9043-60c1a381e232","provenance":{"kind":"external_user","sender":"5005","name":"5005","address":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"message":"in-60","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(70,'00dc6b59-eaa0-7001-a648-41c07f54c43d',19,33,'assistant','{"id":"00dc6b59-eaa0-7001-a648-41c07f54c43d","role":"assistant","content":[{"type":"toolCall","id":"c1","name":"sessions_spawn","arguments":{"task":"works on the pears"}}],"timestamp":"2000-01-01T02:31:00Z","runId":"f5701508-2f5f-4d7d-9043-60c1a381e232","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"toolUse"}','');
INSERT INTO messages VALUES(71,'c49eac89-25bf-45c8-b26b-940ca2d6dd95',20,34,'user','{"id":"c49eac89-25bf-45c8-b26b-940ca2d6dd95","role":"user","content":[{"type":"text","text":"works on the pears"}],"timestamp":"2000-01-01T02:31:00Z","runId":"f3bbd391-83c4-5a66-8853-f933b29844e0","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:fake:direct:5005","sourceChannel":"fake","sourceTool":"sessions_spawn"}}','');
INSERT INTO messages VALUES(72,'00dc6b59-eaa0-7003-a673-1bfa50c22ef4',19,33,'toolResult','{"id":"00dc6b59-eaa0-7003-a673-1bfa50c22ef4","role":"toolResult","content":[{"type":"text","text":"{\"status\":\"accepted\",\"runId\":\"f3bbd391-83c4-5a66-8853-f933b29844e0\",\"childSessionKey\":\"agent:main:subagent:586c8cbd-250e-58e8-82b2-4ba09b12cd22\"}"}],"timestamp":"2000-01-01T02:31:00Z","runId":"f5701508-2f5f-4d7d-9043-60c1a381e232","toolCallId":"c1","toolName":"sessions_spawn"}','');
INSERT INTO messages VALUES(73,'00dc6b59-eaa0-7004-b979-ab6a96683493',20,34,'assistant','{"id":"00dc6b59-eaa0-7004-b979-ab6a96683493","role":"assistant","content":[{"type":"toolCall","id":"c1","name":"remember","arguments":{"text":"The sub-agent has counted two apples"}}],"timestamp":"2000-01-01T02:31:00Z","runId":"f3bbd391-83c4-5a66-8853-f933b29844e0","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"toolUse"}','');
INSERT INTO messages VALUES(74,'00dc6b59-eaa0-7005-9ef1-648611c6f492',19,33,'assistant','{"id":"00dc6b59-eaa0-7005-9ef1-648611c6f492","role":"assistant","content":[{"type":"text","text":"Done, said the tool."}],"timestamp":"2000-01-01T02:31:00Z","runId":"f5701508-2f5f-4d7d-9043-60c1a381e232","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(75,'00dc6b59-eaa0-7006-8a5a-3e8741a36c80',20,34,'toolResult','{"id":"00dc6b59-eaa0-7006-8a5a-3e8741a36c80","role":"toolResult","content":[{"type":"text","text":"{\"status\":\"ok\"}"}],"timestamp":"2000-01-01T02:31:00Z","runId":"f3bbd391-83c4-5a66-8853-f933b29844e0","toolCallId":"c1","toolName":"remember"}','');
INSERT INTO messages VALUES(76,'2cb1ed0e-f963-41e1-8588-b282472a04a9',19,35,'user','{"id":"2cb1ed0e-f963-41e1-8588-b282472a04a9","role":"user","content":[{"type":"text","text":"ask there: works on an answer"}],"timestamp":"2000-01-01T02:32:00Z","runId":"64f70db8-7f8e-4733-942c-c7c184a96914","provenance":{"kind":"external_user","sender":"5005","name":"5005","address":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"message":"in-62","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(77,'00dc6b5a-d500-7000-afae-3c9511cd0dd9',19,35,'assistant','{"id":"00dc6b5a-d500-7000-afae-3c9511cd0dd9","role":"assistant","content":[{"type":"toolCall","id":"c1","name":"sessions_send","arguments":{"message":"works on an answer","sessionKey":"agent:main:fake:group:there","timeoutSeconds":0}}],"timestamp":"2000-01-01T02:32:00Z","runId":"64f70db8-7f8e-4733-942c-c7c184a96914","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"toolUse"}','');
INSERT INTO messages VALUES(78,'547bba39-65fe-4935-a8a9-66ab4d65fccc',5,36,'user','{"id":"547bba39-65fe-4935-a8a9-66ab4d65fccc","role":"user","content":[{"type":"text","text":"works on an answer"}],"timestamp":"2000-01-01T02:32:00Z","runId":"fadfaf99-1d43-4930-95c8-451154c365c1","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:fake:direct:5005","sourceChannel":"fake","sourceTool":"sessions_send"}}','');
INSERT INTO messages VALUES(79,'00dc6b5a-d500-7001-9536-88572435c390',19,35,'toolResult','{"id":"00dc6b5a-d500-7001-9536-88572435c390","role":"toolResult","content":[{"type":"text","text":"{\"runId\":\"fadfaf99-1d43-4930-95c8-451154c365c1\",\"status\":\"accepted\",\"sessionKey\":\"agent:main:fake:group:there\",\"delivery\":{\"status\":\"pending\",\"mode\":\"announce\"}}"}],"timestamp":"2000-01-01T02:32:00Z","runId":"64f70db8-7f8e-4733-942c-c7c184a96914","toolCallId":"c1","toolName":"sessions_send"}','');
INSERT INTO messages VALUES(80,'00dc6b5a-d500-7002-aef8-069a2c2611b5',19,35,'assistant','{"id":"00dc6b5a-d500-7002-aef8-069a2c2611b5","role":"assistant","content":[{"type":"text","text":"Done, said the tool."}],"timestamp":"2000-01-01T02:32:00Z","runId":"64f70db8-7f8e-4733-942c-c7c184a96914","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(81,'9de3d358-fcff-4a2f-8dad-cd26c3d8baf8',21,37,'user','{"id":"9de3d358-fcff-4a2f-8dad-cd26c3d8baf8","role":"user","content":[{"type":"text","text":"now tell slowly"}],"timestamp":"2000-01-01T02:33:00Z","runId":"1f896bb2-da44-4bf5-ba47-82d43800c1b1","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"2002","type":"direct"},"message":"in-64","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(82,'35607d3b-af04-4e3b-b67d-18f25290cb5b',19,38,'user','{"id":"35607d3b-af04-4e3b-b67d-18f25290cb5b","role":"user","content":[{"type":"text","text":"please works on this"}],"timestamp":"2000-01-01T02:33:00Z","runId":"ec8ef973-9fee-430d-8ede-7e7d63ffc0b1","provenance":{"kind":"external_user","sender":"5005","name":"5005","address":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"message":"in-65","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(83,'e050e6a8-6183-447e-83ff-7f74158756a9',22,40,'user','{"id":"e050e6a8-6183-447e-83ff-7f74158756a9","role":"user","content":[{"type":"text","text":"2002: hello down"}],"timestamp":"2000-01-01T02:33:01Z","runId":"942b187a-24f9-430d-990a-1d93f6895edc","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"down","type":"group"},"addressed":true,"message":"in-69","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(84,'00dc6b5b-c348-7001-b221-9971cc975533',22,40,'assistant','{"id":"00dc6b5b-c348-7001-b221-9971cc975533","role":"assistant","content":[{"type":"text","text":"I heard: 2002: hello down"}],"timestamp":"2000-01-01T02:33:01Z","runId":"942b187a-24f9-430d-990a-1d93f6895edc","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
INSERT INTO messages VALUES(85,'79b8d27b-3ecf-40b1-b891-560889d65e18',23,42,'user','{"id":"79b8d27b-3ecf-40b1-b891-560889d65e18","role":"user","content":[{"type":"text","text":"2002: hello stuck"}],"timestamp":"2000-01-01T02:33:07Z","runId":"bd732153-6b3c-4fd6-aff8-8c30581b62c3","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"stuck","type":"group"},"addressed":true,"message":"in-70","sourceChannel":"fake"}}','');
INSERT INTO messages VALUES(86,'00dc6b5b-dab8-7001-88e9-de83f3b55803',23,42,'assistant','{"id":"00dc6b5b-dab8-7001-88e9-de83f3b55803","role":"assistant","content":[{"type":"text","text":"I heard: 2002: hello stuck"}],"timestamp":"2000-01-01T02:33:07Z","runId":"bd732153-6b3c-4fd6-aff8-8c30581b62c3","model":"mock/m","usage":{"input":10,"output":5},"stopReason":"stop"}','');
DELETE FROM words_data;
INSERT INTO words_data VALUES(1,X'468371');
INSERT INTO words_data VALUES(10,X'00000000FF000001020D1E000D110101011000002B0101011111000002020101121200000203010113130000020401011414000002050101151500000206010116160102020701011717000003080101181800000209010119190000030A01011A1A0000030B01011B1B0000020C01011C1C0000020000');
INSERT INTO words_data VALUES(137438953473,X'000000740530323030323401010568656172643503036C6C6F3401010169350105717569657434010123EE8080303935353364343036633532323939373730643934346438336437393065303534010321813064366534303739653336373033656264333763303037323266353839316432340104080807040927');
INSERT INTO words_data VALUES(274877906945,X'000000C6053032303032360103617265370106627265616B7336010764657461696C73370101693702016E370201743601036C6F673701036F66663602016E370109736F6D657468696E673701037468653703026973370103776173370203656E7437020468696C653702066F726B696E67370204726F6E67370123EE80806535623562346139363233333835306666336332323437393339323366303565360103218130643665343037396533363730336562643337633030373232663538393164323601040706090A0404040606040C0605060607090727');
INSERT INTO words_data VALUES(412316860417,X'000000F9053032303032380106616E7377657239010466726F6D390104676F65733901016939020166390201733801020174380101086C616E6775616765390204656176653901076D6573736167653902046F64656C3901036E65773902026F773901026F663902016E39020275743902037665723901077265667573656438010603696E6739010573686F776E390205746172747339010374686539030269733902016F39010477686174390123EE808065356235623461393632333338353066663363323234373933393233663035653801032181306436653430373965333637303365626433376330303732326635383931643238010407090707040405050B070A070605050405060B0608080605040727');
INSERT INTO words_data VALUES(549755813889,X'0000006C063068656172643B0101693B01057468616E6B3A010103796F753A010123EE808031383236646133336534616139666339643563376239396535373232623937663A0103218130643665343037396533363730336562643337633030373232663538393164323A01040804090727');
INSERT INTO words_data VALUES(687194767361,X'0000006B0530323030323C01010568656172643D03036C6C6F3C010101693D0123EE808033643863326461663539643338313437656139356539616236353936313861313C0103218130643665343037396533363730336562643337633030373232663538393164323C01040808070427');
INSERT INTO words_data VALUES(824633720833,X'0000006B0530323030323E01010568656172643F03036C6C6F3E010101693F0123EE808032643839336635376236666631633931633264396435653662623162616363643E0103218130643665343037396533363730336562643337633030373232663538393164323E01040808070427');
INSERT INTO words_data VALUES(962072674305,X'000000A80630616761696E400101020570706C65734001010105636F756E74400101010568656172644101010169410101037468654001010123EE80803435356261383633366465623338303432613865396439626564383337363561420420613764306266653465393939363932383064386361376463373037653737656340010321813064366534303739653336373033656264333763303037323266353839316432400101040A0A0A0905082624');
INSERT INTO words_data VALUES(1099511627777,X'0000009A05303230303243010161430102016E4401046C6F6E674301046F6E636544020672636861726444010573746F72794301057468657265440203696D6544010475706F6E440103776173440123EE8080633565646631363463626231303866326565623536323965313363663065386143010321813064366534303739653336373033656264333763303037323266353839316432430104070504070709080806070627');
INSERT INTO words_data VALUES(1236950581249,X'000000B2093064656C65676174654502036F6E654A01026F6E45020105706561727345020104736169644A010374686545020302036F6F6C4A0105776F726B7345020123EE80803262353338386536623737366265613064396231346139303063346462623366450504206538626564646562353661303630353964306138316363323832356136373737470321813064366534303739653336373033656264333763303037323266353839316432450203040B060609070806092723');
INSERT INTO words_data VALUES(1374389534721,X'000000B50330616E4C020304737765724C020202736B4C0104646F6E655001026F6E4C0201047361696450010374686550040272654C02036F6F6C500105776F726B734C020123EE808032623533383865366237373662656130643962313461393030633464626233664C04042034353562613836333664656233383034326138653964396265643833373635614E03218130643665343037396533363730336562643337633030373232663538393164324C020204060805070607060506092723');
INSERT INTO words_data VALUES(1511828488193,X'000000A404306E6F775101026F6E520106706C65617365520106736C6F776C7951010474656C6C510203686973520105776F726B73520123EE808032623533383865366237373662656130643962313461393030633464626233665204203533306563633632333434303665386563376330643936643162343034303136510321813064366534303739653336373033656264333763303037323266353839316432510104060509090706082623');
INSERT INTO words_data VALUES(1649267441665,X'0000007305303230303253010104646F776E5301010568656172645403036C6C6F5301010169540123EE8080303764623431393235343262313935343931333165616363646239333538613053010321813064366534303739653336373033656264333763303037323266353839316432530104080808070427');
INSERT INTO words_data VALUES(2336462209025,X'000004770930303064633661643515020173150102313015030230311E01010A01020135150203383763150104323030320B010109010101011201010101010101020361343015010A34323931303630353434150101351502036666621501043730303115020B6331306438623963393462150104396666341501056167656E74150601731502036E6577160103066E6F756E63651117020570706C65730D02010203050202736B2004026564290104623130371502046567696E1601010863323462656530351502046F756E740D020105010864656C65676174650D0301761502016F070103026E65060E09080104656163681A010C666165323737656335386664150203696E651202026F672E010302757212030104676F6E6530010105686561726402060202040702060403050202020203036C6C6F010109010C0105010D01010101010101030272650B0101016902060202040702060403050202020202016E1502017320020103040101056A736F6E6C1501046B6E6F77070101046D61696E1502036F7265090101036E65772002010302036F6E6512030303746573120301036F6C64320102026E65090102047468657229020275741501067061726C65791502056C6561736503010872656D656D626572030303706C7927030473756C7412030206756E74696D6515010473616964060E09080206657373696F6E29080269641508036B657915080173150202686D1502036B69702702086F6D657468696E670302047461747315050275731203030265701117020775626167656E74150305636365737315010474657374150202686506070201040105030804040272651801070303696E6709010401732A010203696D651A02056F6B656E731503026F6C060E090803037069631E01020972616E73637269707415010477616C6C2C010301732902016516010203686174070118020103020769746868656C642A010103796F7507010123EE808033333435633939353738353464653263383038656131326662393063616261633001051F393034653162346163646662653165326534393466376330653865346532340101010301010101042034353562613836333664656233383034326138653964396265643833373635611801010305010501042037353166306138313865333361386466323139373832303361363736323733393201042038643763663232643837343266393738663765613133366262343938326638302C01042039313461363137616332663530306538366663656133323838373163663436352E01042063326238656461613961333031623832306638643865396235393862643962630F010101051F666264666663626339376135323032613031656235323231636361633536620B010107010101042064626561613535333432386162346238656636626164373264376565396565631E01010501010301032181306436653430373965333637303365626433376330303732326635383931643201010103010101010101010201010102010101010101030101010201020101010101010101010101010101040B040509040616060D0406070E070804070A0D050507080B0A0B040508070F06060608161506120409080807070907070706070509080B0608090A0905060405060B0706060A08070E070705060808070C0804050B0B0727292A24242426282A');
INSERT INTO words_data VALUES(9008023888461824,X'04000000000000020000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000003E0000003F');
DELETE FROM words_idx;
INSERT INTO words_idx VALUES(1,X'',2);
INSERT INTO words_idx VALUES(2,X'',2);
INSERT INTO words_idx VALUES(3,X'',2);
INSERT INTO words_idx VALUES(4,X'',2);
INSERT INTO words_idx VALUES(5,X'',2);
INSERT INTO words_idx VALUES(6,X'',2);
INSERT INTO words_idx VALUES(7,X'',2);
INSERT INTO words_idx VALUES(8,X'',2);
INSERT INTO words_idx VALUES(9,X'',2);
INSERT INTO words_idx VALUES(10,X'',2);
INSERT INTO words_idx VALUES(11,X'',2);
INSERT INTO words_idx VALUES(12,X'',2);
INSERT INTO words_idx VALUES(17,X'',2);
DELETE FROM words_docsize;
INSERT INTO words_docsize VALUES(1,X'03',1);
INSERT INTO words_docsize VALUES(2,X'05',1);
INSERT INTO words_docsize VALUES(3,X'05',2);
INSERT INTO words_docsize VALUES(6,X'06',2);
INSERT INTO words_docsize VALUES(7,X'06',3);
INSERT INTO words_docsize VALUES(8,X'08',3);
INSERT INTO words_docsize VALUES(9,X'05',4);
INSERT INTO words_docsize VALUES(10,X'07',4);
INSERT INTO words_docsize VALUES(11,X'05',5);
INSERT INTO words_docsize VALUES(12,X'07',5);
INSERT INTO words_docsize VALUES(13,X'07',6);
INSERT INTO words_docsize VALUES(15,X'05',6);
INSERT INTO words_docsize VALUES(16,X'07',6);
INSERT INTO words_docsize VALUES(17,X'04',6);
INSERT INTO words_docsize VALUES(18,X'09',6);
INSERT INTO words_docsize VALUES(20,X'06',6);
INSERT INTO words_docsize VALUES(21,X'2C',6);
INSERT INTO words_docsize VALUES(22,X'06',7);
INSERT INTO words_docsize VALUES(23,X'08',7);
INSERT INTO words_docsize VALUES(24,X'05',8);
INSERT INTO words_docsize VALUES(25,X'07',8);
INSERT INTO words_docsize VALUES(26,X'07',9);
INSERT INTO words_docsize VALUES(29,X'06',9);
INSERT INTO words_docsize VALUES(30,X'05',10);
INSERT INTO words_docsize VALUES(31,X'07',10);
INSERT INTO words_docsize VALUES(32,X'08',11);
INSERT INTO words_docsize VALUES(34,X'05',11);
INSERT INTO words_docsize VALUES(35,X'07',11);
INSERT INTO words_docsize VALUES(37,X'06',11);
INSERT INTO words_docsize VALUES(38,X'07',11);
INSERT INTO words_docsize VALUES(39,X'04',11);
INSERT INTO words_docsize VALUES(40,X'04',11);
INSERT INTO words_docsize VALUES(41,X'07',11);
INSERT INTO words_docsize VALUES(42,X'06',12);
INSERT INTO words_docsize VALUES(43,X'08',12);
INSERT INTO words_docsize VALUES(44,X'05',13);
INSERT INTO words_docsize VALUES(45,X'07',13);
INSERT INTO words_docsize VALUES(46,X'05',14);
INSERT INTO words_docsize VALUES(47,X'07',14);
INSERT INTO words_docsize VALUES(48,X'05',15);
INSERT INTO words_docsize VALUES(49,X'07',15);
INSERT INTO words_docsize VALUES(50,X'05',16);
INSERT INTO words_docsize VALUES(51,X'07',16);
INSERT INTO words_docsize VALUES(52,X'05',17);
INSERT INTO words_docsize VALUES(53,X'07',17);
INSERT INTO words_docsize VALUES(54,X'06',18);
INSERT INTO words_docsize VALUES(55,X'10',18);
INSERT INTO words_docsize VALUES(56,X'06',19);
INSERT INTO words_docsize VALUES(57,X'1B',19);
INSERT INTO words_docsize VALUES(58,X'04',20);
INSERT INTO words_docsize VALUES(59,X'06',20);
INSERT INTO words_docsize VALUES(60,X'04',21);
INSERT INTO words_docsize VALUES(61,X'06',21);
INSERT INTO words_docsize VALUES(64,X'06',23);
INSERT INTO words_docsize VALUES(65,X'08',23);
INSERT INTO words_docsize VALUES(66,X'08',23);
INSERT INTO words_docsize VALUES(67,X'06',24);
INSERT INTO words_docsize VALUES(68,X'0A',24);
INSERT INTO words_docsize VALUES(69,X'07',25);
INSERT INTO words_docsize VALUES(71,X'06',25);
INSERT INTO words_docsize VALUES(74,X'06',25);
INSERT INTO words_docsize VALUES(76,X'08',26);
INSERT INTO words_docsize VALUES(78,X'06',26);
INSERT INTO words_docsize VALUES(80,X'06',26);
INSERT INTO words_docsize VALUES(81,X'05',27);
INSERT INTO words_docsize VALUES(82,X'06',27);
INSERT INTO words_docsize VALUES(83,X'05',28);
INSERT INTO words_docsize VALUES(84,X'07',28);
DELETE FROM words_config;
INSERT INTO words_config VALUES('version',4);
INSERT INTO runs VALUES(1,'6ae6783f-4fbd-491b-aeb8-8b73a48ed247','agent:main:fake:direct:1001',1,'00dc6acf-ac00-7000-af0e-0d36c8496db7','','',0,'done',0,1,1,946684800000,946684800000,0,946684800000,'{"kind":"turn","agent":"main","input":{"id":"dbe5882e-2579-4834-b2c1-bfc525454add","role":"user","content":[{"type":"text","text":"hello"}],"timestamp":"2000-01-01T00:00:00Z","runId":"6ae6783f-4fbd-491b-aeb8-8b73a48ed247","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"message":"in-1","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"source":"in-1"}','{"result":"I heard: hello","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(2,'ee635acc-a8a1-42d7-a766-63f3d4157247','agent:main:fake:direct:1001',1,'00dc6acf-ac00-7000-af0e-0d36c8496db7','','',0,'done',0,1,3,946684860000,946684860000,0,946684860000,'{"kind":"turn","agent":"main","input":{"id":"3a311de8-5bcd-4320-bb7c-831d1c902015","role":"user","content":[{"type":"text","text":"please remember something"}],"timestamp":"2000-01-01T00:01:00Z","runId":"ee635acc-a8a1-42d7-a766-63f3d4157247","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"message":"in-3","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"source":"in-3"}','{"result":"Done, said the tool.","usage":{"input":20,"output":10}}','');
INSERT INTO runs VALUES(3,'e498a123-19cf-4ec1-8b15-52d077866cff','agent:main:fake:direct:1001',1,'00dc6acf-ac00-7000-af0e-0d36c8496db7','','',0,'done',0,1,7,946684920000,946684920000,0,946684920000,'{"kind":"turn","agent":"main","input":{"id":"8cd8464d-31a6-4d4d-bc92-8ac8812b65af","role":"user","content":[{"type":"text","text":"what do you know?"}],"timestamp":"2000-01-01T00:02:00Z","runId":"e498a123-19cf-4ec1-8b15-52d077866cff","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"message":"in-5","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"source":"in-5"}','{"result":"I heard: what do you know?","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(4,'d8fae3c8-3278-40b4-af9d-d60334dc47bc','agent:main:fake:direct:1001',1,'00dc6acf-ac00-7000-af0e-0d36c8496db7','','',0,'done',0,1,8,946684980000,946684980000,0,946684980000,'{"kind":"compact","agent":"main","input":{"id":"e640a1be-4658-4c73-8e7d-28a6c6fb35ca","role":"user","content":[{"type":"text"}],"timestamp":"2000-01-01T00:03:00Z","runId":"d8fae3c8-3278-40b4-af9d-d60334dc47bc","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"message":"in-7","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"source":"in-7"}','{"result":"⚙️ There is nothing to compact yet: 8 messages, 4.6k tokens."}','');
INSERT INTO runs VALUES(5,'ffb9da32-cbf3-417b-996d-5088db91b4bd','agent:main:fake:direct:1001',1,'00dc6acf-ac00-7000-af0e-0d36c8496db7','','',0,'done',0,1,9,946685040000,946685040000,0,946685040000,'{"kind":"turn","agent":"main","input":{"id":"a70e2b99-f3fd-4481-b068-5b0020f82928","role":"user","content":[{"type":"text","text":"one more thing"}],"timestamp":"2000-01-01T00:04:00Z","runId":"ffb9da32-cbf3-417b-996d-5088db91b4bd","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"message":"in-9","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"1001","type":"direct"},"source":"in-9"}','{"result":"I heard: one more thing","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(6,'6dfec284-257a-42cf-a88c-da576ae5e204','agent:main:fake:group:here',2,'00dc6ad4-3fe0-7000-878a-82d452f99c8e','','',0,'done',0,1,11,946685100000,946685100000,0,946685100000,'{"kind":"turn","agent":"main","input":{"id":"5f25ac37-a0de-45d0-8bbf-af082a0e3c3c","role":"user","content":[{"type":"text","text":"2002: hello here"}],"timestamp":"2000-01-01T00:05:00Z","runId":"6dfec284-257a-42cf-a88c-da576ae5e204","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"here","type":"group"},"addressed":true,"message":"in-11","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"here","type":"group"},"replyTo":"in-11","source":"in-11"}','{"result":"I heard: 2002: hello here","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(7,'d4545e34-e106-4c59-97b9-98d6639690ea','agent:main:fake:group:here',2,'00dc6ad4-3fe0-7000-878a-82d452f99c8e','','',0,'done',0,1,13,946685160000,946685160000,0,946685160000,'{"kind":"turn","agent":"main","input":{"id":"a1b21dbf-348b-4f59-933e-57303265b83c","role":"user","content":[{"type":"text","text":"2002: delegate: count the apples"}],"timestamp":"2000-01-01T00:06:00Z","runId":"d4545e34-e106-4c59-97b9-98d6639690ea","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"here","type":"group"},"addressed":true,"message":"in-13","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"here","type":"group"},"replyTo":"in-13","source":"in-13"}','{"result":"Done, said the tool.","usage":{"input":20,"output":10}}','');
INSERT INTO runs VALUES(8,'266c66ea-b0e4-58be-9b3a-c99873050520','agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b',3,'00dc6ad5-2a40-7001-9ff4-fae277ec58fd','agent:main:fake:group:here','266c66ea-b0e4-58be-9b3a-c99873050520',0,'done',0,1,15,946685160000,946685160000,0,946685160000,'{"kind":"child","agent":"main","input":{"id":"bbd4f696-3efa-4ac9-a8af-8c4b2fdaffd6","role":"user","content":[{"type":"text","text":"count the apples"}],"timestamp":"2000-01-01T00:06:00Z","runId":"266c66ea-b0e4-58be-9b3a-c99873050520","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:fake:group:here","sourceChannel":"fake","sourceTool":"sessions_spawn"}},"source":"tool:d4545e34-e106-4c59-97b9-98d6639690ea:c1","chain":{"kind":"spawn","root":"266c66ea-b0e4-58be-9b3a-c99873050520","requester":"agent:main:fake:group:here","target":"agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b","asker":"fake:2002","from":{"channel":"fake","account":"default","chat":"here","type":"group"},"request":"count the apples","origin":{"channel":"fake","account":"default","chat":"here","type":"group"},"cleanup":"keep","people":[{"channel":"fake","id":"2002"}],"places":[{"chat":{"channel":"fake","account":"default","chat":"here","type":"group"},"session":"agent:main:fake:group:here"}]}}','{"result":"I heard: count the apples","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(9,'3c485fb6-fcf8-41fd-bf09-0e813b04c3cb','agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b',3,'00dc6ad5-2a40-7001-9ff4-fae277ec58fd','','266c66ea-b0e4-58be-9b3a-c99873050520',0,'done',0,1,17,946685160000,946685160000,0,946685160000,'{"kind":"announce","agent":"main","input":{"id":"eba7b8e0-bfcd-4354-9a71-6664059ee341","role":"user","content":[{"type":"text","text":"Announce step."}],"timestamp":"2000-01-01T00:06:00Z","runId":"3c485fb6-fcf8-41fd-bf09-0e813b04c3cb","provenance":{"kind":"internal_system","sourceSessionKey":"agent:main:fake:group:here","sourceTool":"announce"}},"source":"tool:d4545e34-e106-4c59-97b9-98d6639690ea:c1","chain":{"kind":"spawn","root":"266c66ea-b0e4-58be-9b3a-c99873050520","requester":"agent:main:fake:group:here","target":"agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b","asker":"fake:2002","from":{"channel":"fake","account":"default","chat":"here","type":"group"},"request":"count the apples","latest":"I heard: count the apples","origin":{"channel":"fake","account":"default","chat":"here","type":"group"},"cleanup":"keep","status":"done","startedMs":946685160000,"endedMs":946685160000,"usage":{"input":10,"output":5},"people":[{"channel":"fake","id":"2002"}],"places":[{"chat":{"channel":"fake","account":"default","chat":"here","type":"group"},"session":"agent:main:fake:group:here"}]}}','{"result":"Status: fine\nResult: four apples\nNotes: none","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(10,'d83e9f18-7924-482b-aada-d4bd26d083e9','agent:main:fake:group:here',2,'00dc6ad4-3fe0-7000-878a-82d452f99c8e','','',0,'done',0,1,21,946685160000,946685160000,0,946685160000,'{"kind":"post","agent":"main","input":{"id":"b2654468-436b-46a2-a40d-536604f4ba22","role":"assistant","content":[{"type":"text","text":"Status: success\n\nResult:\nfour apples\n\nNotes:\nnone\n\nStats: `count the apples` • runtime 0s • tokens 15 (in 10 / out 5) • sessionKey `agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b` • sessionId `00dc6ad5-2a40-7001-9ff4-fae277ec58fd` • transcript `/dev/shm/parley-test-4291060544/agents/main/sessions/00dc6ad5-2a40-7001-9ff4-fae277ec58fd.jsonl`"}],"timestamp":"2000-01-01T00:06:00Z","runId":"d83e9f18-7924-482b-aada-d4bd26d083e9","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b","sourceTool":"sessions_spawn"},"model":"parley/post","stopReason":"stop"},"source":"tool:d4545e34-e106-4c59-97b9-98d6639690ea:c1"}','','');
INSERT INTO runs VALUES(11,'0c418cc4-29c9-4879-a4c5-2b6b65db36cb','agent:main:fake:group:here',4,'00dc6ad6-14a0-7000-992a-d3108ea4c90b','','',0,'done',0,1,22,946685280000,946685280000,0,946685280000,'{"kind":"turn","agent":"main","input":{"id":"cae753ba-8c2e-4cf5-bb9c-3e3e97425236","role":"user","content":[{"type":"text","text":"2002: we begin anew"}],"timestamp":"2000-01-01T00:08:00Z","runId":"0c418cc4-29c9-4879-a4c5-2b6b65db36cb","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"here","type":"group"},"addressed":true,"message":"in-18","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"here","type":"group"},"replyTo":"in-18","source":"in-18"}','{"result":"I heard: 2002: we begin anew","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(12,'e4a72c06-0da6-428e-8ff8-20dfb6880a8d','agent:main:fake:group:there',5,'00dc6ad7-e960-7000-9fab-6b426457126c','','',0,'done',0,1,24,946685340000,946685340000,0,946685340000,'{"kind":"turn","agent":"main","input":{"id":"2b1b91a4-c6d3-4777-bb91-eae13ee2f857","role":"user","content":[{"type":"text","text":"2002: hello there"}],"timestamp":"2000-01-01T00:09:00Z","runId":"e4a72c06-0da6-428e-8ff8-20dfb6880a8d","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"there","type":"group"},"addressed":true,"message":"in-20","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"there","type":"group"},"replyTo":"in-20","source":"in-20"}','{"result":"I heard: 2002: hello there","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(13,'9642da96-6928-49b9-8d6f-b5cc65a0e5a7','agent:main:fake:group:there',5,'00dc6ad7-e960-7000-9fab-6b426457126c','','',0,'done',0,1,26,946685400000,946685400000,0,946685400000,'{"kind":"turn","agent":"main","input":{"id":"2002cb79-872a-4f60-8e94-512e9e2635a7","role":"user","content":[{"type":"text","text":"2002: each time: the apples"}],"timestamp":"2000-01-01T00:10:00Z","runId":"9642da96-6928-49b9-8d6f-b5cc65a0e5a7","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"there","type":"group"},"addressed":true,"message":"in-22","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"there","type":"group"},"replyTo":"in-22","source":"in-22"}','{"result":"Done, said the tool.","usage":{"input":20,"output":10}}','');
INSERT INTO runs VALUES(14,'c474e22a-740f-4a50-816c-e351245549ff','agent:main:fake:group:here:topic:7',6,'00dc6ad9-be20-7000-ae9a-db76accccb75','','',0,'done',0,1,30,946685460000,946685460000,0,946685460000,'{"kind":"turn","agent":"main","input":{"id":"e059afb4-aab1-4186-b38e-3a3e4043220d","role":"user","content":[{"type":"text","text":"1001: hello topic"}],"timestamp":"2000-01-01T00:11:00Z","runId":"c474e22a-740f-4a50-816c-e351245549ff","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"addressed":true,"message":"in-24","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"replyTo":"in-24","source":"in-24"}','{"result":"I heard: 1001: hello topic","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(15,'092d3745-e392-4da7-82c5-8f9f06c15b8c','agent:main:fake:group:here:topic:7',6,'00dc6ad9-be20-7000-ae9a-db76accccb75','','',0,'done',0,1,32,946685520000,946685520000,0,946685520000,'{"kind":"turn","agent":"main","input":{"id":"dcf1e535-b2f1-4b85-8b92-48900764ab0e","role":"user","content":[{"type":"text","text":"1001: ask there: what is new?"}],"timestamp":"2000-01-01T00:12:00Z","runId":"092d3745-e392-4da7-82c5-8f9f06c15b8c","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"addressed":true,"message":"in-26","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"replyTo":"in-26","source":"in-26"}','{"result":"Done, said the tool.","usage":{"input":20,"output":10}}','');
INSERT INTO runs VALUES(16,'98c29f02-0eca-4894-a6de-ba23f7cb5594','agent:main:fake:group:there',5,'00dc6ad7-e960-7000-9fab-6b426457126c','','98c29f02-0eca-4894-a6de-ba23f7cb5594',1,'done',0,1,34,946685520000,946685520000,0,946685520000,'{"kind":"ask","agent":"main","input":{"id":"dc909ceb-d45b-4ef7-b448-347cd9223516","role":"user","content":[{"type":"text","text":"what is new?"}],"timestamp":"2000-01-01T00:12:00Z","runId":"98c29f02-0eca-4894-a6de-ba23f7cb5594","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:fake:group:here:topic:7","sourceChannel":"fake","sourceTool":"sessions_send"}},"source":"tool:092d3745-e392-4da7-82c5-8f9f06c15b8c:c1","chain":{"kind":"ask","root":"98c29f02-0eca-4894-a6de-ba23f7cb5594","requester":"agent:main:fake:group:here:topic:7","target":"agent:main:fake:group:there","from":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"request":"what is new?","hops":["agent:main:fake:group:here:topic:7"],"origin":{"channel":"fake","account":"default","chat":"there","type":"group"},"owner":true,"people":[{"channel":"fake","id":"1001"}],"places":[{"chat":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"session":"agent:main:fake:group:here:topic:7"}]}}','{"result":"I heard: what is new?","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(17,'0a919ab2-5ea9-41dc-b98a-a183fe6899d4','agent:main:fake:group:here:topic:7',6,'00dc6ad9-be20-7000-ae9a-db76accccb75','','98c29f02-0eca-4894-a6de-ba23f7cb5594',1,'done',0,1,38,946685520000,946685520000,0,946685520000,'{"kind":"reply","agent":"main","input":{"id":"12b33e96-8247-45b0-8ddd-345365e43718","role":"user","content":[{"type":"text","text":"I heard: what is new?"}],"timestamp":"2000-01-01T00:12:00Z","runId":"0a919ab2-5ea9-41dc-b98a-a183fe6899d4","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:fake:group:there","sourceTool":"sessions_send"}},"source":"tool:092d3745-e392-4da7-82c5-8f9f06c15b8c:c1","chain":{"kind":"ask","root":"98c29f02-0eca-4894-a6de-ba23f7cb5594","requester":"agent:main:fake:group:here:topic:7","target":"agent:main:fake:group:there","from":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"request":"what is new?","round1":"I heard: what is new?","latest":"I heard: what is new?","turn":1,"hops":["agent:main:fake:group:here:topic:7"],"origin":{"channel":"fake","account":"default","chat":"there","type":"group"},"owner":true,"people":[{"channel":"fake","id":"1001"}],"places":[{"chat":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"session":"agent:main:fake:group:here:topic:7"}]}}','{"result":"REPLY_SKIP","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(18,'98d055e5-0acc-4ab7-9b64-b111eec7e0bc','agent:main:fake:group:there',5,'00dc6ad7-e960-7000-9fab-6b426457126c','','98c29f02-0eca-4894-a6de-ba23f7cb5594',0,'done',0,1,40,946685520000,946685520000,0,946685520000,'{"kind":"announce","agent":"main","input":{"id":"4e10422f-a739-4fda-9e32-1bbc50031964","role":"user","content":[{"type":"text","text":"Announce step."}],"timestamp":"2000-01-01T00:12:00Z","runId":"98d055e5-0acc-4ab7-9b64-b111eec7e0bc","provenance":{"kind":"internal_system","sourceSessionKey":"agent:main:fake:group:here:topic:7","sourceTool":"announce"}},"source":"tool:092d3745-e392-4da7-82c5-8f9f06c15b8c:c1","chain":{"kind":"ask","root":"98c29f02-0eca-4894-a6de-ba23f7cb5594","requester":"agent:main:fake:group:here:topic:7","target":"agent:main:fake:group:there","from":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"request":"what is new?","round1":"I heard: what is new?","latest":"I heard: what is new?","turn":1,"hops":["agent:main:fake:group:here:topic:7"],"origin":{"channel":"fake","account":"default","chat":"there","type":"group"},"owner":true,"people":[{"channel":"fake","id":"1001"}],"places":[{"chat":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"session":"agent:main:fake:group:here:topic:7"}]}}','{"result":"The other session was asked.","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(19,'d99614dd-2749-486c-aa06-5aac61f02ed3','agent:main:fake:group:here:topic:7',6,'00dc6ad9-be20-7000-ae9a-db76accccb75','','',0,'done',0,1,42,946685640000,946685640000,0,946685640000,'{"kind":"turn","agent":"main","input":{"id":"bf449a5d-318f-44d7-adf1-d51ffd70e1a1","role":"user","content":[{"type":"text","text":"1001: this is withheld"}],"timestamp":"2000-01-01T00:14:00Z","runId":"d99614dd-2749-486c-aa06-5aac61f02ed3","provenance":{"kind":"external_user","sender":"1001","name":"1001","owner":true,"address":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"addressed":true,"message":"in-31","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"here","thread":"7","type":"group"},"replyTo":"in-31","source":"in-31"}','{"result":"I heard: 1001: this is withheld","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(20,'d3f6007e-a973-480f-8155-9889ab92f685','agent:main:fake:group:wall',7,'00dc6ade-5200-7000-a508-2ad1c84a809d','','',0,'done',0,1,44,946685760000,946685760000,0,946685760000,'{"kind":"turn","agent":"main","input":{"id":"6f1caf84-fc51-4599-8ed6-3f2074ec9cf6","role":"user","content":[{"type":"text","text":"2002: hello wall"}],"timestamp":"2000-01-01T00:16:00Z","runId":"d3f6007e-a973-480f-8155-9889ab92f685","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"wall","type":"group"},"addressed":true,"message":"in-33","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"wall","type":"group"},"replyTo":"in-33","source":"in-33"}','{"result":"I heard: 2002: hello wall","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(21,'8a189557-9150-445b-a676-7cf7a3298dfc','agent:main:fake:group:fog',8,'00dc6adf-3c60-7000-a73a-4cd58738ea28','','',0,'done',0,1,46,946685820000,946685820000,0,946685820000,'{"kind":"turn","agent":"main","input":{"id":"a53b24a8-b5f2-4353-99bc-53f2235ee896","role":"user","content":[{"type":"text","text":"2002: hello fog"}],"timestamp":"2000-01-01T00:17:00Z","runId":"8a189557-9150-445b-a676-7cf7a3298dfc","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"fog","type":"group"},"addressed":true,"message":"in-34","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"fog","type":"group"},"replyTo":"in-34","source":"in-34"}','{"result":"I heard: 2002: hello fog","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(22,'f439dbb9-87da-4c3a-b4de-ae23fca47314','agent:main:fake:group:gone',9,'00dc6ae0-26c0-7000-b4b6-e903129fbee3','','',0,'done',0,1,48,946685880000,946685880000,0,946685880000,'{"kind":"turn","agent":"main","input":{"id":"b24ecb8c-8829-477b-b3a5-425e76f4dfd9","role":"user","content":[{"type":"text","text":"2002: hello gone"}],"timestamp":"2000-01-01T00:18:00Z","runId":"f439dbb9-87da-4c3a-b4de-ae23fca47314","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"gone","type":"group"},"addressed":true,"message":"in-35","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"gone","type":"group"},"replyTo":"in-35","source":"in-35"}','{"result":"I heard: 2002: hello gone","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(23,'57371aa4-e6ef-4ead-8add-e7c13fe185f9','agent:main:fake:group:old',10,'00dc6ae1-1120-7000-a988-bb804d435d34','','',0,'done',0,1,50,946685940000,946685940000,0,946685940000,'{"kind":"turn","agent":"main","input":{"id":"5eac1661-ba0e-4e2d-93e2-abc606fbe274","role":"user","content":[{"type":"text","text":"2002: hello old"}],"timestamp":"2000-01-01T00:19:00Z","runId":"57371aa4-e6ef-4ead-8add-e7c13fe185f9","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"old","type":"group"},"addressed":true,"message":"in-36","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"old","type":"group"},"replyTo":"in-36","source":"in-36"}','{"result":"I heard: 2002: hello old","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(24,'c37ea62e-8ed0-4f93-852b-b62033c18f01','agent:main:fake:group:quiet',11,'00dc6ae1-fb80-7000-a449-84ee45cc1a80','','',0,'done',0,1,52,946686000000,946686000000,0,946686000000,'{"kind":"turn","agent":"main","input":{"id":"78e4b8e6-fe0f-4ff7-90a1-b5bf4367f978","role":"user","content":[{"type":"text","text":"2002: hello quiet"}],"timestamp":"2000-01-01T00:20:00Z","runId":"c37ea62e-8ed0-4f93-852b-b62033c18f01","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"quiet","type":"group"},"addressed":true,"message":"in-38","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"quiet","type":"group"},"replyTo":"in-38","source":"in-38"}','{"result":"I heard: 2002: hello quiet","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(25,'eb52c761-f1f9-4b21-a6ca-b171d33425c1','agent:main:fake:group:broken',12,'00dc6ae2-e5e0-7000-9d36-1e59f0008974','','',0,'failed',0,1,54,946686060000,946686060000,0,946686060000,'{"kind":"turn","agent":"main","input":{"id":"3c56cef5-799a-44dc-a162-411a404411fe","role":"user","content":[{"type":"text","text":"2002: it breaks off"}],"timestamp":"2000-01-01T00:21:00Z","runId":"eb52c761-f1f9-4b21-a6ca-b171d33425c1","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"broken","type":"group"},"addressed":true,"message":"in-39","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"broken","type":"group"},"replyTo":"in-39","source":"in-39"}','{"error":"model provider mock/m: unknown (tries 1, status 0): the model says no"}','');
INSERT INTO runs VALUES(26,'e684aa1c-fef5-4267-8dbc-088ef4d0f87d','agent:main:fake:group:broken',12,'00dc6ae2-e5e0-7000-9d36-1e59f0008974','','',0,'failed',0,1,56,946686120000,946686120000,0,946686120000,'{"kind":"turn","agent":"main","input":{"id":"66e4abe7-be73-4488-83f5-f839ff9ff0c5","role":"user","content":[{"type":"text","text":"2002: it is refused"}],"timestamp":"2000-01-01T00:22:00Z","runId":"e684aa1c-fef5-4267-8dbc-088ef4d0f87d","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"broken","type":"group"},"addressed":true,"message":"in-41","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"broken","type":"group"},"replyTo":"in-41","source":"in-41"}','{"error":"model provider mock: refused (tries 1, status 400): content_filter"}','');
INSERT INTO runs VALUES(27,'db1ef0b9-a382-4746-b081-9699af4509d7','agent:main:fake:direct:3004',13,'00dc6ae7-79c0-7000-b80b-145da9ee7664','','',0,'done',0,1,58,946686360000,946686360000,0,946686360000,'{"kind":"turn","agent":"main","input":{"id":"44979965-b049-46f3-86bc-a4cbe9427c2e","role":"user","content":[{"type":"text","text":"thank you"}],"timestamp":"2000-01-01T00:26:00Z","runId":"db1ef0b9-a382-4746-b081-9699af4509d7","provenance":{"kind":"external_user","sender":"3004","name":"3004","address":{"channel":"fake","account":"default","chat":"3004","type":"direct"},"message":"in-49","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"3004","type":"direct"},"source":"in-49"}','{"result":"I heard: thank you","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(28,'bee8c17e-c16d-4c3b-92e7-1589e58770b4','agent:main:fake:group:brief',14,'00dc6ae8-6420-7000-b6fc-31b524f53fe5','','',0,'done',0,1,60,946686420000,946686420000,0,946686420000,'{"kind":"turn","agent":"main","input":{"id":"728c539f-4969-4a02-bd44-6a952ce898ab","role":"user","content":[{"type":"text","text":"2002: hello"}],"timestamp":"2000-01-01T00:27:00Z","runId":"bee8c17e-c16d-4c3b-92e7-1589e58770b4","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"brief","type":"group"},"addressed":true,"message":"in-51","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"brief","type":"group"},"replyTo":"in-51","source":"in-51"}','{"result":"I heard: 2002: hello","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(30,'21657b07-b299-568f-9784-662a352bd8f2','agent:main:cron:651470bc-a4a6-56f2-ad96-395a10e83f7f',17,'00dc6b2b-3980-7000-ab2b-7111ec938251','','21657b07-b299-568f-9784-662a352bd8f2',0,'done',0,1,64,946690800000,946690800000,0,946690800000,'{"kind":"job","agent":"main","input":{"id":"48a1ddb9-5de0-4226-8653-46835d266f94","role":"user","content":[{"type":"text","text":"count the apples again"}],"timestamp":"2000-01-01T01:40:00Z","runId":"21657b07-b299-568f-9784-662a352bd8f2","provenance":{"kind":"internal_system","sourceSessionKey":"agent:main:fake:group:there","sourceTool":"cron"}},"source":"job:651470bc-a4a6-56f2-ad96-395a10e83f7f:946690800000","label":"apples","chain":{"kind":"job","root":"21657b07-b299-568f-9784-662a352bd8f2","requester":"agent:main:fake:group:there","target":"agent:main:cron:651470bc-a4a6-56f2-ad96-395a10e83f7f","asker":"fake:2002","from":{"channel":"fake","account":"default","chat":"there","type":"group"},"request":"count the apples again","origin":{"channel":"fake","account":"default","chat":"there","type":"group"}}}','{"result":"I heard: count the apples again","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(31,'ee248055-cc83-42b1-99ff-ea2aa5212fc0','agent:main:fake:group:there',5,'00dc6ad7-e960-7000-9fab-6b426457126c','','',0,'done',0,1,66,946690800000,946690800000,0,946690800000,'{"kind":"post","agent":"main","input":{"id":"78682a2e-68f6-4922-a0d8-6c72b5d29214","role":"assistant","content":[{"type":"text","text":"I heard: count the apples again"}],"timestamp":"2000-01-01T01:40:00Z","runId":"ee248055-cc83-42b1-99ff-ea2aa5212fc0","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:cron:651470bc-a4a6-56f2-ad96-395a10e83f7f","sourceTool":"cron"},"model":"parley/post","stopReason":"stop"},"source":"job:651470bc-a4a6-56f2-ad96-395a10e83f7f:946690800000"}','','');
INSERT INTO runs VALUES(32,'81a27822-ac1a-453c-8e17-273d69309524','agent:main:fake:group:half',18,'00dc6b59-0040-7000-9497-381c7b6219df','','',0,'done',0,1,67,946693800000,946693800000,0,946693800000,'{"kind":"turn","agent":"main","input":{"id":"ea29fc91-786e-49ae-9ac4-733bcecf2381","role":"user","content":[{"type":"text","text":"2002: a long story"}],"timestamp":"2000-01-01T02:30:00Z","runId":"81a27822-ac1a-453c-8e17-273d69309524","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"half","type":"group"},"addressed":true,"message":"in-58","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"half","type":"group"},"replyTo":"in-58","source":"in-58"}','{"result":"Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard.","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(33,'f5701508-2f5f-4d7d-9043-60c1a381e232','agent:main:fake:direct:5005',19,'00dc6b59-eaa0-7000-afca-0eefd24226fc','','',0,'done',0,1,69,946693860000,946693860000,0,946693860000,'{"kind":"turn","agent":"main","input":{"id":"79c53998-df8d-4764-a3fd-498b9cbbb497","role":"user","content":[{"type":"text","text":"delegate: works on the pears"}],"timestamp":"2000-01-01T02:31:00Z","runId":"f5701508-2f5f-4d7d-9043-60c1a381e232","provenance":{"kind":"external_user","sender":"5005","name":"5005","address":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"message":"in-60","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"source":"in-60"}','{"result":"Done, said the tool.","usage":{"input":20,"output":10}}','');
INSERT INTO runs VALUES(34,'f3bbd391-83c4-5a66-8853-f933b29844e0','agent:main:subagent:586c8cbd-250e-58e8-82b2-4ba09b12cd22',20,'00dc6b59-eaa0-7002-9f64-81eff98f787c','agent:main:fake:direct:5005','f3bbd391-83c4-5a66-8853-f933b29844e0',0,'running',0,1,71,946693860000,946693860000,0,0,'{"kind":"child","agent":"main","input":{"id":"c49eac89-25bf-45c8-b26b-940ca2d6dd95","role":"user","content":[{"type":"text","text":"works on the pears"}],"timestamp":"2000-01-01T02:31:00Z","runId":"f3bbd391-83c4-5a66-8853-f933b29844e0","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:fake:direct:5005","sourceChannel":"fake","sourceTool":"sessions_spawn"}},"source":"tool:f5701508-2f5f-4d7d-9043-60c1a381e232:c1","chain":{"kind":"spawn","root":"f3bbd391-83c4-5a66-8853-f933b29844e0","requester":"agent:main:fake:direct:5005","target":"agent:main:subagent:586c8cbd-250e-58e8-82b2-4ba09b12cd22","asker":"fake:5005","from":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"request":"works on the pears","origin":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"cleanup":"keep","people":[{"channel":"fake","id":"5005"}],"places":[{"chat":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"session":"agent:main:fake:direct:5005"}]}}','','');
INSERT INTO runs VALUES(35,'64f70db8-7f8e-4733-942c-c7c184a96914','agent:main:fake:direct:5005',19,'00dc6b59-eaa0-7000-afca-0eefd24226fc','','',0,'done',0,1,76,946693920000,946693920000,0,946693920000,'{"kind":"turn","agent":"main","input":{"id":"2cb1ed0e-f963-41e1-8588-b282472a04a9","role":"user","content":[{"type":"text","text":"ask there: works on an answer"}],"timestamp":"2000-01-01T02:32:00Z","runId":"64f70db8-7f8e-4733-942c-c7c184a96914","provenance":{"kind":"external_user","sender":"5005","name":"5005","address":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"message":"in-62","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"source":"in-62"}','{"result":"Done, said the tool.","usage":{"input":20,"output":10}}','');
INSERT INTO runs VALUES(36,'fadfaf99-1d43-4930-95c8-451154c365c1','agent:main:fake:group:there',5,'00dc6ad7-e960-7000-9fab-6b426457126c','','fadfaf99-1d43-4930-95c8-451154c365c1',1,'running',0,1,78,946693920000,946693920000,0,0,'{"kind":"ask","agent":"main","input":{"id":"547bba39-65fe-4935-a8a9-66ab4d65fccc","role":"user","content":[{"type":"text","text":"works on an answer"}],"timestamp":"2000-01-01T02:32:00Z","runId":"fadfaf99-1d43-4930-95c8-451154c365c1","provenance":{"kind":"inter_session","sourceSessionKey":"agent:main:fake:direct:5005","sourceChannel":"fake","sourceTool":"sessions_send"}},"source":"tool:64f70db8-7f8e-4733-942c-c7c184a96914:c1","chain":{"kind":"ask","root":"fadfaf99-1d43-4930-95c8-451154c365c1","requester":"agent:main:fake:direct:5005","target":"agent:main:fake:group:there","asker":"fake:5005","from":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"request":"works on an answer","hops":["agent:main:fake:direct:5005"],"origin":{"channel":"fake","account":"default","chat":"there","type":"group"},"people":[{"channel":"fake","id":"5005"}],"places":[{"chat":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"session":"agent:main:fake:direct:5005"}]}}','','');
INSERT INTO runs VALUES(37,'1f896bb2-da44-4bf5-ba47-82d43800c1b1','agent:main:fake:direct:2002',21,'00dc6b5b-bf60-7000-89ad-659ec9d040fa','','',0,'running',0,1,81,946693980000,946693980000,0,0,'{"kind":"turn","agent":"main","input":{"id":"9de3d358-fcff-4a2f-8dad-cd26c3d8baf8","role":"user","content":[{"type":"text","text":"now tell slowly"}],"timestamp":"2000-01-01T02:33:00Z","runId":"1f896bb2-da44-4bf5-ba47-82d43800c1b1","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"2002","type":"direct"},"message":"in-64","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"2002","type":"direct"},"source":"in-64"}','','');
INSERT INTO runs VALUES(38,'ec8ef973-9fee-430d-8ede-7e7d63ffc0b1','agent:main:fake:direct:5005',19,'00dc6b59-eaa0-7000-afca-0eefd24226fc','','',0,'running',0,1,82,946693980000,946693980000,0,0,'{"kind":"turn","agent":"main","input":{"id":"35607d3b-af04-4e3b-b67d-18f25290cb5b","role":"user","content":[{"type":"text","text":"please works on this"}],"timestamp":"2000-01-01T02:33:00Z","runId":"ec8ef973-9fee-430d-8ede-7e7d63ffc0b1","provenance":{"kind":"external_user","sender":"5005","name":"5005","address":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"message":"in-65","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"source":"in-65"}','','');
INSERT INTO runs VALUES(39,'4ce304fc-ef1c-46e1-85b3-819198af0382','agent:main:fake:direct:5005',19,'00dc6b59-eaa0-7000-afca-0eefd24226fc','','',0,'queued',0,0,0,946693981000,0,0,0,'{"kind":"turn","agent":"main","input":{"id":"ecabe400-8df1-47e0-9fef-a0499852d4d7","role":"user","content":[{"type":"text","text":"and this waits"}],"timestamp":"2000-01-01T02:33:01Z","runId":"4ce304fc-ef1c-46e1-85b3-819198af0382","provenance":{"kind":"external_user","sender":"5005","name":"5005","address":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"message":"in-67","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"5005","type":"direct"},"source":"in-67"}','','');
INSERT INTO runs VALUES(40,'942b187a-24f9-430d-990a-1d93f6895edc','agent:main:fake:group:down',22,'00dc6b5b-c348-7000-afb5-a636c3330391','','',0,'done',0,1,83,946693981000,946693981000,0,946693981000,'{"kind":"turn","agent":"main","input":{"id":"e050e6a8-6183-447e-83ff-7f74158756a9","role":"user","content":[{"type":"text","text":"2002: hello down"}],"timestamp":"2000-01-01T02:33:01Z","runId":"942b187a-24f9-430d-990a-1d93f6895edc","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"down","type":"group"},"addressed":true,"message":"in-69","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"down","type":"group"},"replyTo":"in-69","source":"in-69"}','{"result":"I heard: 2002: hello down","usage":{"input":10,"output":5}}','');
INSERT INTO runs VALUES(41,'cbb51b83-5b9b-42e5-baf7-8058025e9d7f','agent:main:fake:group:there',5,'00dc6ad7-e960-7000-9fab-6b426457126c','','',0,'queued',0,0,0,946693981000,0,0,0,'{"kind":"turn","agent":"main","input":{"id":"149b3f74-7964-4975-9db0-afaccd5c3a58","role":"user","content":[{"type":"text","text":"2002: this waits as well"}],"timestamp":"2000-01-01T02:33:01Z","runId":"cbb51b83-5b9b-42e5-baf7-8058025e9d7f","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"there","type":"group"},"addressed":true,"message":"in-68","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"there","type":"group"},"replyTo":"in-68","source":"in-68"}','','');
INSERT INTO runs VALUES(42,'bd732153-6b3c-4fd6-aff8-8c30581b62c3','agent:main:fake:group:stuck',23,'00dc6b5b-dab8-7000-90fc-df03598f8b69','','',0,'done',0,1,85,946693987000,946693987000,0,946693987000,'{"kind":"turn","agent":"main","input":{"id":"79b8d27b-3ecf-40b1-b891-560889d65e18","role":"user","content":[{"type":"text","text":"2002: hello stuck"}],"timestamp":"2000-01-01T02:33:07Z","runId":"bd732153-6b3c-4fd6-aff8-8c30581b62c3","provenance":{"kind":"external_user","sender":"2002","name":"2002","address":{"channel":"fake","account":"default","chat":"stuck","type":"group"},"addressed":true,"message":"in-70","sourceChannel":"fake"}},"reply":{"channel":"fake","account":"default","chat":"stuck","type":"group"},"replyTo":"in-70","source":"in-70"}','{"result":"I heard: 2002: hello stuck","usage":{"input":10,"output":5}}','');
INSERT INTO deliveries VALUES(1,'12f4a465-4efa-4bd1-9e3a-9e97e2e230e1','agent:main:fake:direct:1001',1,1,2,'','fake/default/direct/1001','sent',1,1,0,0,946688400000,946684800000,946684800000,'{"kind":"reply","run":"6ae6783f-4fbd-491b-aeb8-8b73a48ed247","message":"00dc6acf-ac00-7001-a608-d5e20ffc2d12","text":"I heard: hello"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-2","at":"2000-01-01T00:00:00Z"}]}');
INSERT INTO deliveries VALUES(2,'56eb4433-7c4f-4fe2-b940-4220e7c5010f','agent:main:fake:direct:1001',2,1,6,'','fake/default/direct/1001','sent',1,1,0,0,946688460000,946684860000,946684860000,'{"kind":"reply","run":"ee635acc-a8a1-42d7-a766-63f3d4157247","message":"00dc6ad0-9660-7002-9451-71bb9af2b298","text":"Done, said the tool."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-4","at":"2000-01-01T00:01:00Z"}]}');
INSERT INTO deliveries VALUES(3,'9222ee3b-6798-4fe5-a68e-c4fe9d17472f','agent:main:fake:direct:1001',3,1,8,'','fake/default/direct/1001','sent',1,1,0,0,946688520000,946684920000,946684920000,'{"kind":"reply","run":"e498a123-19cf-4ec1-8b15-52d077866cff","message":"00dc6ad1-80c0-7000-b7d1-000930f8eecd","text":"I heard: what do you know?"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-6","at":"2000-01-01T00:02:00Z"}]}');
INSERT INTO deliveries VALUES(4,'3f55024a-62f1-4d81-937d-e81348dd325d','agent:main:fake:direct:1001',4,0,0,'','fake/default/direct/1001','sent',1,1,0,0,946688580000,946684980000,946684980000,'{"kind":"notice","run":"d8fae3c8-3278-40b4-af9d-d60334dc47bc","text":"⚙️ There is nothing to compact yet: 8 messages, 4.6k tokens."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-8","at":"2000-01-01T00:03:00Z"}]}');
INSERT INTO deliveries VALUES(5,'9f8e0cd0-ea32-4675-af1b-683fd92dd62a','agent:main:fake:direct:1001',5,1,10,'','fake/default/direct/1001','sent',1,1,0,0,946688640000,946685040000,946685040000,'{"kind":"reply","run":"ffb9da32-cbf3-417b-996d-5088db91b4bd","message":"00dc6ad3-5580-7000-8ce1-b146bece598b","text":"I heard: one more thing"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-10","at":"2000-01-01T00:04:00Z"}]}');
INSERT INTO deliveries VALUES(6,'54f54b27-67c4-414c-a95a-27a641057b19','agent:main:fake:group:here',6,2,12,'','fake/default/group/here','sent',1,1,0,0,946688700000,946685100000,946685100000,'{"kind":"reply","run":"6dfec284-257a-42cf-a88c-da576ae5e204","message":"00dc6ad4-3fe0-7001-9942-47bcfd10b305","replyTo":"in-11","text":"I heard: 2002: hello here"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-12","at":"2000-01-01T00:05:00Z"}]}');
INSERT INTO deliveries VALUES(7,'417ff62e-a183-4b00-9368-9948feed813a','agent:main:fake:group:here',9,2,21,'','fake/default/group/here','sent',1,1,0,0,946771560000,946685160000,946685160000,'{"kind":"announce","run":"3c485fb6-fcf8-41fd-bf09-0e813b04c3cb","message":"b2654468-436b-46a2-a40d-536604f4ba22","text":"Status: success\n\nResult:\nfour apples\n\nNotes:\nnone\n\nStats: `count the apples` • runtime 0s • tokens 15 (in 10 / out 5) • sessionKey `agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b` • sessionId `00dc6ad5-2a40-7001-9ff4-fae277ec58fd` • transcript `/dev/shm/parley-test-4291060544/agents/main/sessions/00dc6ad5-2a40-7001-9ff4-fae277ec58fd.jsonl`"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-14","at":"2000-01-01T00:06:00Z"}]}');
INSERT INTO deliveries VALUES(8,'026be55c-569c-4af4-a8bf-38325143e0e2','agent:main:fake:group:here',7,2,20,'','fake/default/group/here','sent',1,1,0,0,946688760000,946685160000,946685160000,'{"kind":"reply","run":"d4545e34-e106-4c59-97b9-98d6639690ea","message":"00dc6ad5-2a40-7005-95c0-6c4e2c0ff719","replyTo":"in-13","text":"Done, said the tool."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-15","at":"2000-01-01T00:06:00Z"}]}');
INSERT INTO deliveries VALUES(9,'eccfa5e8-8e7d-42ee-b8c9-dae05404773b','agent:main:fake:group:here',0,0,0,'','fake/default/group/here','sent',1,1,0,0,946688820000,946685220000,946685220000,'{"kind":"notice","replyTo":"in-16","text":"✅ New session started · model: mock/m"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-17","at":"2000-01-01T00:07:00Z"}]}');
INSERT INTO deliveries VALUES(10,'e965310c-829f-41f3-8310-66a233a4e425','agent:main:fake:group:here',11,4,23,'','fake/default/group/here','sent',1,1,0,0,946688880000,946685280000,946685280000,'{"kind":"reply","run":"0c418cc4-29c9-4879-a4c5-2b6b65db36cb","message":"00dc6ad6-ff00-7000-b689-8c48db30b7aa","replyTo":"in-18","text":"I heard: 2002: we begin anew"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-19","at":"2000-01-01T00:08:00Z"}]}');
INSERT INTO deliveries VALUES(11,'d57d2e7a-c543-4647-9646-1ac2406a942c','agent:main:fake:group:there',12,5,25,'','fake/default/group/there','sent',1,1,0,0,946688940000,946685340000,946685340000,'{"kind":"reply","run":"e4a72c06-0da6-428e-8ff8-20dfb6880a8d","message":"00dc6ad7-e960-7001-b3ea-4dc8afc0c3e9","replyTo":"in-20","text":"I heard: 2002: hello there"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-21","at":"2000-01-01T00:09:00Z"}]}');
INSERT INTO deliveries VALUES(12,'e2989f76-03a5-465f-bd23-0f1e148585a6','agent:main:fake:group:there',13,5,29,'','fake/default/group/there','sent',1,1,0,0,946689000000,946685400000,946685400000,'{"kind":"reply","run":"9642da96-6928-49b9-8d6f-b5cc65a0e5a7","message":"00dc6ad8-d3c0-7002-8688-6431b1d45325","replyTo":"in-22","text":"Done, said the tool."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-23","at":"2000-01-01T00:10:00Z"}]}');
INSERT INTO deliveries VALUES(13,'9ab2bcd4-6afc-45db-bcad-f8f4b9af154e','agent:main:fake:group:here:topic:7',14,6,31,'','fake/default/group/here/7','sent',1,1,0,0,946689060000,946685460000,946685460000,'{"kind":"reply","run":"c474e22a-740f-4a50-816c-e351245549ff","message":"00dc6ad9-be20-7001-9a9c-59746e00ae9a","replyTo":"in-24","text":"I heard: 1001: hello topic"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-25","at":"2000-01-01T00:11:00Z"}]}');
INSERT INTO deliveries VALUES(14,'3b507d2d-97ae-4573-94e3-fa01e43eaa9a','agent:main:fake:group:here:topic:7',15,6,37,'','fake/default/group/here/7','sent',1,1,0,0,946689120000,946685520000,946685520000,'{"kind":"reply","run":"092d3745-e392-4da7-82c5-8f9f06c15b8c","message":"00dc6ada-a880-7003-9ab6-68040c7a8247","replyTo":"in-26","text":"Done, said the tool."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-27","at":"2000-01-01T00:12:00Z"}]}');
INSERT INTO deliveries VALUES(15,'c5478cfc-1450-4eab-bc72-3b853c2e0131','agent:main:fake:group:there',18,5,41,'','fake/default/group/there','sent',1,1,0,0,946771920000,946685520000,946685520000,'{"kind":"announce","run":"98d055e5-0acc-4ab7-9b64-b111eec7e0bc","message":"00dc6ada-a880-7005-9a42-919a586f9feb","text":"The other session was asked."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-28","at":"2000-01-01T00:12:00Z"}]}');
INSERT INTO deliveries VALUES(16,'be709048-edc5-427c-a343-b2d8c2c45ccf','agent:main:fake:group:here:topic:7',0,0,0,'','fake/default/group/here/7','sent',1,1,0,0,946689180000,946685580000,946685580000,'{"kind":"notice","replyTo":"in-29","text":"⚙️ Send policy set to off.","granted":{"action":"allow","rule":"session.sendPolicy.default","reason":"answers a change of the send policy; decided by the policy before it: no rule matches, and the default is not set, which means allow"}}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"answers a change of the send policy; decided by the policy before it: no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-30","at":"2000-01-01T00:13:00Z"}]}');
INSERT INTO deliveries VALUES(17,'f4067ae4-9e63-4542-bd54-c6587a1c952c','agent:main:fake:group:here:topic:7',19,6,43,'','fake/default/group/here/7','withheld',0,0,0,0,946689240000,946685640000,946685640000,'{"kind":"reply","run":"d99614dd-2749-486c-aa06-5aac61f02ed3","message":"00dc6adc-7d40-7000-bbaf-2476c5f49529","replyTo":"in-31","text":"I heard: 1001: this is withheld"}','{"verdict":{"action":"deny","rule":"session override","reason":"this session''s own send policy is deny"},"error":"this session''s own send policy is deny"}');
INSERT INTO deliveries VALUES(18,'fd0917f6-8539-4bef-8070-bc7c879c9fd6','agent:main:fake:group:here:topic:7',0,0,0,'','fake/default/group/here/7','withheld',0,0,0,0,946689300000,946685700000,946685700000,'{"kind":"notice","replyTo":"in-32","text":"⚙️ Model: `mock/other` (set for this session; the default is `mock/m`)"}','{"verdict":{"action":"deny","rule":"session override","reason":"this session''s own send policy is deny"},"error":"this session''s own send policy is deny"}');
INSERT INTO deliveries VALUES(19,'c7e6247a-6f99-4fa7-bcb2-1791d5d03580','agent:main:fake:group:wall',20,7,45,'','fake/default/group/wall','failed',0,1,0,0,946689360000,946685760000,946685760000,'{"kind":"reply","run":"d3f6007e-a973-480f-8155-9889ab92f685","message":"00dc6ade-5200-7001-924f-98a956a426ba","replyTo":"in-33","text":"I heard: 2002: hello wall"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"tries":[{"at":"2000-01-01T00:16:00Z","part":0,"error":"rejected: the platform refuses"}],"error":"rejected: the platform refuses"}');
INSERT INTO deliveries VALUES(20,'b6391063-9ff9-49bf-9485-45c2059a2c11','agent:main:fake:group:fog',21,8,47,'','fake/default/group/fog','held',0,1,0,0,946689420000,946685820000,946685820000,'{"kind":"reply","run":"8a189557-9150-445b-a676-7cf7a3298dfc","message":"00dc6adf-3c60-7001-9ccc-bfde3d42231c","replyTo":"in-34","text":"I heard: 2002: hello fog"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"tries":[{"at":"2000-01-01T00:17:00Z","part":0,"error":"it may have arrived; delivery.ambiguous is hold: ambiguous: the platform refuses"}],"error":"it may have arrived; delivery.ambiguous is hold: ambiguous: the platform refuses","unclear":true}');
INSERT INTO deliveries VALUES(21,'b881cb3d-9be4-471b-9b0f-c94a1ea26996','agent:main:fake:group:gone',22,9,49,'','fake/default/group/gone','expired',0,84,0,946689525728,946689480000,946685880000,946689480000,'{"kind":"reply","run":"f439dbb9-87da-4c3a-b4de-ae23fca47314","message":"00dc6ae0-26c0-7001-bc1a-3a18f10f92c4","replyTo":"in-35","text":"I heard: 2002: hello gone"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"tries":[{"at":"2000-01-01T00:40:08.807Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:41:04.666Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:41:47.477Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:42:35.439Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:43:13.647Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:44:04.273Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:45:02.804Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:45:56.026Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:46:26.084Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:47:22.128Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:47:56.983Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:48:47.79Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:49:46.215Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:50:46.16Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:51:31.639Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:52:06.456Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:52:59.878Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:53:47.988Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:54:19.144Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:55:13.194Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:55:58.844Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:56:43.171Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:57:30.209Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:58:15.712Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:58:57.614Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T00:59:39.486Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:00:33.821Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:01:14.075Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:02:00.966Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:02:37.182Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:03:34.779Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:04:28.724Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:05:08.099Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:06:02.462Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:06:50.543Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:07:37.406Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:08:28.61Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:09:20.706Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:10:01.69Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:10:57.788Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:11:32.404Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:12:05.747Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:12:56.393Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:13:50.878Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:14:27.917Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:15:11.381Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:16:07.278Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:16:38.047Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:17:09.111Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T01:17:51Z","part":0,"error":"transient: the platform refuses"}],"error":"not sent before 2000-01-01T01:18:00Z"}');
INSERT INTO deliveries VALUES(22,'bb794e4c-15a9-4fe7-86e2-b00d56bc5d5b','agent:main:fake:group:old',23,10,51,'','fake/default/group/new','sent',1,2,0,946685940000,946689540000,946685940000,946685940000,'{"kind":"reply","run":"57371aa4-e6ef-4ead-8add-e7c13fe185f9","message":"00dc6ae1-1120-7001-8665-f889f985457a","text":"I heard: 2002: hello old"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-37","at":"2000-01-01T00:19:00Z"}],"tries":[{"at":"2000-01-01T00:19:00Z","part":0,"error":"the chat has a new id"}]}');
INSERT INTO deliveries VALUES(23,'10cd87f4-f100-4697-8bcf-272bc01a97d7','agent:main:fake:group:quiet',24,11,53,'','fake/default/group/quiet','withheld',0,0,0,0,946689600000,946686000000,946686000000,'{"kind":"reply","run":"c37ea62e-8ed0-4f93-852b-b62033c18f01","message":"00dc6ae1-fb80-7001-b949-4594602b8ef5","replyTo":"in-38","text":"I heard: 2002: hello quiet"}','{"verdict":{"action":"deny","rule":"session.sendPolicy.rules[0]","reason":"a deny rule matches: to quiet"},"error":"a deny rule matches: to quiet"}');
INSERT INTO deliveries VALUES(24,'9801acc7-d48d-421d-9abf-a50ee480ae73','agent:main:fake:group:broken',25,12,55,'','fake/default/group/broken','sent',1,1,0,0,946689660000,946686060000,946686060000,'{"kind":"notice","run":"eb52c761-f1f9-4b21-a6ca-b171d33425c1","message":"b863f413-52ff-453e-8fcc-9cf3008af93a","replyTo":"in-39","text":"Something went wrong while I was working on this. The details are in the log."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-40","at":"2000-01-01T00:21:00Z"}]}');
INSERT INTO deliveries VALUES(25,'8bce1734-7dfc-47e6-bf9c-fad31baa59b4','agent:main:fake:group:broken',26,12,57,'','fake/default/group/broken','sent',1,1,0,0,946689720000,946686120000,946686120000,'{"kind":"notice","run":"e684aa1c-fef5-4267-8dbc-088ef4d0f87d","message":"9faa9331-6aa6-42e1-82ed-eebe1054633f","replyTo":"in-41","text":"The language model refused to answer this. I leave the message out of what it is shown from now on. If it goes on refusing, /new starts over."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-42","at":"2000-01-01T00:22:00Z"}]}');
INSERT INTO deliveries VALUES(26,'9507839f-1248-40e3-a463-f0c310d33fa1','agent:main:fake:direct:3003',0,0,0,'','fake/default/direct/3003','sent',1,1,0,0,946689780000,946686180000,946686180000,'{"kind":"pairing","text":"A pairing code was told here. It is not kept."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-44","at":"2000-01-01T00:23:00Z"}]}');
INSERT INTO deliveries VALUES(27,'506de590-8ba9-43b2-b7a0-259c5e869e4d','agent:main:fake:direct:3004',0,0,0,'','fake/default/direct/3004','sent',1,1,0,0,946689840000,946686240000,946686240000,'{"kind":"pairing","text":"A pairing code was told here. It is not kept."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-46","at":"2000-01-01T00:24:00Z"}]}');
INSERT INTO deliveries VALUES(28,'312cb7ac-f0a5-492a-a613-2a7cc14f156f','agent:main:fake:direct:3005',0,0,0,'','fake/default/direct/3005','sent',1,1,0,0,946689900000,946686300000,946686300000,'{"kind":"pairing","text":"A pairing code was told here. It is not kept."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-48","at":"2000-01-01T00:25:00Z"}]}');
INSERT INTO deliveries VALUES(29,'78be5884-3eb2-485b-b411-959928617a40','agent:main:fake:direct:3004',27,13,59,'','fake/default/direct/3004','sent',1,1,0,0,946689960000,946686360000,946686360000,'{"kind":"reply","run":"db1ef0b9-a382-4746-b081-9699af4509d7","message":"00dc6ae7-79c0-7001-91ac-ccd2de1f66ca","text":"I heard: thank you"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-50","at":"2000-01-01T00:26:00Z"}]}');
INSERT INTO deliveries VALUES(30,'01899855-2461-4ec1-a2a7-556419226baa','agent:main:fake:group:brief',28,14,61,'','fake/default/group/brief','sent',1,1,0,0,946690020000,946686420000,946686420000,'{"kind":"reply","run":"bee8c17e-c16d-4c3b-92e7-1589e58770b4","message":"00dc6ae8-6420-7001-8fbe-ff3d7ade7b2b","replyTo":"in-51","text":"I heard: 2002: hello"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-52","at":"2000-01-01T00:27:00Z"}]}');
INSERT INTO deliveries VALUES(31,'c769297a-a4b3-4f68-af07-0206f39f8344','agent:main:fake:group:brief',0,0,0,'','fake/default/group/brief','sent',1,1,0,0,946690080000,946686480000,946686480000,'{"kind":"notice","replyTo":"in-53","text":"✅ New session started · model: mock/m"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-54","at":"2000-01-01T00:28:00Z"}]}');
INSERT INTO deliveries VALUES(32,'ebd76063-1422-4d8d-8b9e-b23ab7db1258','agent:main:fake:group:deleted',29,16,63,'','fake/default/group/deleted','sent',1,1,0,0,946690140000,946686540000,946686540000,'{"kind":"reply","run":"4febfdec-671c-47a7-a513-9bc26a195cb1","message":"00dc6aea-38e0-7001-b0c6-44d7e9089b0e","replyTo":"in-55","text":"I heard: 2002: hello"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-56","at":"2000-01-01T00:29:00Z"}]}');
INSERT INTO deliveries VALUES(33,'24f63d88-6953-4bc0-afb5-44a2911215ab','agent:main:fake:group:there',30,5,66,'','fake/default/group/there','sent',1,1,0,0,946712400000,946690800000,946690800000,'{"kind":"announce","run":"21657b07-b299-568f-9784-662a352bd8f2","message":"78682a2e-68f6-4922-a0d8-6c72b5d29214","text":"I heard: count the apples again"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-57","at":"2000-01-01T01:40:00Z"}]}');
INSERT INTO deliveries VALUES(34,'555185d6-6516-499a-ac06-47163dc00171','agent:main:fake:group:half',32,18,68,'','fake/default/group/half','pending',1,10,0,946694026725,946697400000,946693800000,946693976419,'{"kind":"reply","run":"81a27822-ac1a-453c-8e17-273d69309524","message":"00dc6b59-0040-7001-81ec-e65904740855","replyTo":"in-58","text":"Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard. Once upon a time there was an orchard."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-59","at":"2000-01-01T02:30:00Z"}],"tries":[{"at":"2000-01-01T02:30:00Z","part":1,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:30:00.504Z","part":1,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:30:02.266Z","part":1,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:30:04.446Z","part":1,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:30:09.61Z","part":1,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:30:23.051Z","part":1,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:30:52.721Z","part":1,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:31:47.629Z","part":1,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:32:20.526Z","part":1,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:32:56.419Z","part":1,"error":"transient: the platform refuses"}],"error":"transient: the platform refuses"}');
INSERT INTO deliveries VALUES(35,'13e24452-8cfd-4733-a77c-493711c73584','agent:main:fake:direct:5005',33,19,74,'','fake/default/direct/5005','sent',1,1,0,0,946697460000,946693860000,946693860000,'{"kind":"reply","run":"f5701508-2f5f-4d7d-9043-60c1a381e232","message":"00dc6b59-eaa0-7005-9ef1-648611c6f492","text":"Done, said the tool."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-61","at":"2000-01-01T02:31:00Z"}]}');
INSERT INTO deliveries VALUES(36,'a6cd7931-d041-4ffa-8c4f-c847c01d4f00','agent:main:fake:direct:5005',35,19,80,'','fake/default/direct/5005','sent',1,1,0,0,946697520000,946693920000,946693920000,'{"kind":"reply","run":"64f70db8-7f8e-4733-942c-c7c184a96914","message":"00dc6b5a-d500-7002-aef8-069a2c2611b5","text":"Done, said the tool."}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"receipts":[{"id":"out-63","at":"2000-01-01T02:32:00Z"}]}');
INSERT INTO deliveries VALUES(37,'dropped','',0,0,0,'','fake/default/group/down','dropped',0,0,0,0,946697581000,946693981000,946693981000,'{"kind":"notice","text":"a person drops this"}','{"error":"by a person"}');
INSERT INTO deliveries VALUES(38,'30eaf55c-4a2c-4da3-a953-f7783cf21e4d','agent:main:fake:group:down',40,22,84,'','fake/default/group/down','pending',0,4,0,946693990527,946697581000,946693981000,946693985950,'{"kind":"reply","run":"942b187a-24f9-430d-990a-1d93f6895edc","message":"00dc6b5b-c348-7001-b221-9971cc975533","replyTo":"in-69","text":"I heard: 2002: hello down"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"},"tries":[{"at":"2000-01-01T02:33:01Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:33:01.744Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:33:03.686Z","part":0,"error":"transient: the platform refuses"},{"at":"2000-01-01T02:33:05.95Z","part":0,"error":"transient: the platform refuses"}],"error":"transient: the platform refuses"}');
INSERT INTO deliveries VALUES(39,'e28c7906-3c31-4a64-b2e0-216ed89d47a5','agent:main:fake:group:stuck',42,23,86,'','fake/default/group/stuck','sending',0,1,0,0,946697587000,946693987000,946693987000,'{"kind":"reply","run":"bd732153-6b3c-4fd6-aff8-8c30581b62c3","message":"00dc6b5b-dab8-7001-88e9-de83f3b55803","replyTo":"in-70","text":"I heard: 2002: hello stuck"}','{"verdict":{"action":"allow","rule":"session.sendPolicy.default","reason":"no rule matches, and the default is not set, which means allow"}}');
INSERT INTO seen VALUES(1,'in-1','fake/default/direct/1001','message','',946684800000,'','6ae6783f-4fbd-491b-aeb8-8b73a48ed247',0,0,'5aa762ae383fbb727af3c7a36d4940a5');
INSERT INTO seen VALUES(2,'in-3','fake/default/direct/1001','message','',946684860000,'','ee635acc-a8a1-42d7-a766-63f3d4157247',0,0,'3168beebcf48229153d4ccb39b68fcba');
INSERT INTO seen VALUES(3,'tool:ee635acc-a8a1-42d7-a766-63f3d4157247:c1','','submit','',946684860000,'','',0,0,'');
INSERT INTO seen VALUES(4,'in-5','fake/default/direct/1001','message','',946684920000,'','e498a123-19cf-4ec1-8b15-52d077866cff',0,0,'a43c4c1063adba95fc829cea8876f1b7');
INSERT INTO seen VALUES(5,'in-7','fake/default/direct/1001','message','',946684980000,'','d8fae3c8-3278-40b4-af9d-d60334dc47bc',0,0,'4132bdd6359faab9700958aea01ae09b');
INSERT INTO seen VALUES(6,'in-9','fake/default/direct/1001','message','',946685040000,'','ffb9da32-cbf3-417b-996d-5088db91b4bd',0,0,'89fb1d818eba27c362e82d10f8b7ed13');
INSERT INTO seen VALUES(7,'in-11','fake/default/group/here','message','',946685100000,'','6dfec284-257a-42cf-a88c-da576ae5e204',0,0,'66ccb0da6aeb29fbd00b2b7538db3190');
INSERT INTO seen VALUES(8,'in-13','fake/default/group/here','message','',946685160000,'','d4545e34-e106-4c59-97b9-98d6639690ea',0,0,'d6966b8badb7d227b8e51e8161afd1b6');
INSERT INTO seen VALUES(9,'tool:d4545e34-e106-4c59-97b9-98d6639690ea:c1','','submit','',946685160000,'','266c66ea-b0e4-58be-9b3a-c99873050520',0,0,'');
INSERT INTO seen VALUES(10,'in-16','fake/default/group/here','message','',946685220000,'','',9,1,'cd838a991881a8ac6fc9bda0275056f0');
INSERT INTO seen VALUES(11,'in-18','fake/default/group/here','message','',946685280000,'','0c418cc4-29c9-4879-a4c5-2b6b65db36cb',0,0,'0289f10a521870ee33ae5f0f5c80c7af');
INSERT INTO seen VALUES(12,'in-20','fake/default/group/there','message','',946685340000,'','e4a72c06-0da6-428e-8ff8-20dfb6880a8d',0,0,'76768776e5cade75c2bf43fa7d30798b');
INSERT INTO seen VALUES(13,'in-22','fake/default/group/there','message','',946685400000,'','9642da96-6928-49b9-8d6f-b5cc65a0e5a7',0,0,'cc124159e9d9e527e740cafb21d0269a');
INSERT INTO seen VALUES(14,'tool:9642da96-6928-49b9-8d6f-b5cc65a0e5a7:c1','','submit','',946685400000,'','',0,0,'');
INSERT INTO seen VALUES(15,'in-24','fake/default/group/here','message','7',946685460000,'','c474e22a-740f-4a50-816c-e351245549ff',0,0,'77ed56a7ebd3ec212bf964674a0ad23c');
INSERT INTO seen VALUES(16,'in-26','fake/default/group/here','message','7',946685520000,'','092d3745-e392-4da7-82c5-8f9f06c15b8c',0,0,'6f4580ec7563bba4da4e659cb5c674da');
INSERT INTO seen VALUES(17,'tool:092d3745-e392-4da7-82c5-8f9f06c15b8c:c1','','submit','',946685520000,'','98c29f02-0eca-4894-a6de-ba23f7cb5594',0,0,'');
INSERT INTO seen VALUES(18,'in-29','fake/default/group/here','message','7',946685580000,'','',16,1,'b947743e01a6605a314764b15fa2029f');
INSERT INTO seen VALUES(19,'in-31','fake/default/group/here','message','7',946685640000,'','d99614dd-2749-486c-aa06-5aac61f02ed3',0,0,'3f09c7344c725057bb078cfc1fd137a9');
INSERT INTO seen VALUES(20,'in-32','fake/default/group/here','message','7',946685700000,'','',18,1,'89d3873e280624d61189807df54fcd00');
INSERT INTO seen VALUES(21,'in-33','fake/default/group/wall','message','',946685760000,'','d3f6007e-a973-480f-8155-9889ab92f685',0,0,'5f82a74a68618258e20427c64747632e');
INSERT INTO seen VALUES(22,'in-34','fake/default/group/fog','message','',946685820000,'','8a189557-9150-445b-a676-7cf7a3298dfc',0,0,'467f49afebd35a51f7dca6fd5a5719a8');
INSERT INTO seen VALUES(23,'in-35','fake/default/group/gone','message','',946685880000,'','f439dbb9-87da-4c3a-b4de-ae23fca47314',0,0,'8160564f8466d357aa4369677960a8a1');
INSERT INTO seen VALUES(24,'in-36','fake/default/group/old','message','',946685940000,'','57371aa4-e6ef-4ead-8add-e7c13fe185f9',0,0,'0826ee93bf6142697d208121b2ee7700');
INSERT INTO seen VALUES(25,'in-38','fake/default/group/quiet','message','',946686000000,'','c37ea62e-8ed0-4f93-852b-b62033c18f01',0,0,'0cfd5e4e19373d5f0347f8c0839ba5ef');
INSERT INTO seen VALUES(26,'in-39','fake/default/group/broken','message','',946686060000,'','eb52c761-f1f9-4b21-a6ca-b171d33425c1',0,0,'bbdbca0663dc2d2abcef0252ceddf8a7');
INSERT INTO seen VALUES(27,'in-41','fake/default/group/broken','message','',946686120000,'','e684aa1c-fef5-4267-8dbc-088ef4d0f87d',0,0,'436ce97174efb5f2983299f985de0c16');
INSERT INTO seen VALUES(28,'in-43','fake/default/direct/3003','pair','',946686180000,'','',26,1,'');
INSERT INTO seen VALUES(29,'in-43','fake/default/direct/3003','message','',946686180000,'pairing: dmPolicy: the sender is neither listed in allowFrom nor paired','',0,0,'594d9c6b6e9a8be5f0bdef515854febe');
INSERT INTO seen VALUES(30,'in-45','fake/default/direct/3004','pair','',946686240000,'','',27,1,'');
INSERT INTO seen VALUES(31,'in-45','fake/default/direct/3004','message','',946686240000,'pairing: dmPolicy: the sender is neither listed in allowFrom nor paired','',0,0,'594d9c6b6e9a8be5f0bdef515854febe');
INSERT INTO seen VALUES(32,'pair 3004','','submit','',946686300000,'','',0,0,'');
INSERT INTO seen VALUES(33,'in-47','fake/default/direct/3005','pair','',946686300000,'','',28,1,'');
INSERT INTO seen VALUES(34,'in-47','fake/default/direct/3005','message','',946686300000,'pairing: dmPolicy: the sender is neither listed in allowFrom nor paired','',0,0,'594d9c6b6e9a8be5f0bdef515854febe');
INSERT INTO seen VALUES(35,'pair 3005','','submit','',946686360000,'','',0,0,'');
INSERT INTO seen VALUES(36,'in-49','fake/default/direct/3004','message','',946686360000,'','db1ef0b9-a382-4746-b081-9699af4509d7',0,0,'faa01d57c5c110ffc6e9cfa6a82a30b6');
INSERT INTO seen VALUES(37,'in-51','fake/default/group/brief','message','',946686420000,'','bee8c17e-c16d-4c3b-92e7-1589e58770b4',0,0,'5aa762ae383fbb727af3c7a36d4940a5');
INSERT INTO seen VALUES(38,'bad','fake/default/group/here','unreadable','',946686420000,'it is no JSON','',0,0,'');
INSERT INTO seen VALUES(39,'talk','fake/default/group/here','message','',946686420000,'requireMention: the message does not mention the bot','',0,0,'465d5d6643d19a078d9ce79083c763a6');
INSERT INTO seen VALUES(40,'in-53','fake/default/group/brief','message','',946686480000,'','',31,1,'cd838a991881a8ac6fc9bda0275056f0');
INSERT INTO seen VALUES(41,'in-55','fake/default/group/deleted','message','',946686540000,'','4febfdec-671c-47a7-a513-9bc26a195cb1',0,0,'5aa762ae383fbb727af3c7a36d4940a5');
INSERT INTO seen VALUES(42,'job:651470bc-a4a6-56f2-ad96-395a10e83f7f:946690800000','','submit','',946690800000,'','21657b07-b299-568f-9784-662a352bd8f2',0,0,'');
INSERT INTO seen VALUES(43,'in-58','fake/default/group/half','message','',946693800000,'','81a27822-ac1a-453c-8e17-273d69309524',0,0,'e966f526eb64fde92a367fe86aaffd71');
INSERT INTO seen VALUES(44,'in-60','fake/default/direct/5005','message','',946693860000,'','f5701508-2f5f-4d7d-9043-60c1a381e232',0,0,'d187d3a665581243c518808db1893ef2');
INSERT INTO seen VALUES(45,'tool:f5701508-2f5f-4d7d-9043-60c1a381e232:c1','','submit','',946693860000,'','f3bbd391-83c4-5a66-8853-f933b29844e0',0,0,'');
INSERT INTO seen VALUES(46,'tool:f3bbd391-83c4-5a66-8853-f933b29844e0:c1','','submit','',946693860000,'','',0,0,'');
INSERT INTO seen VALUES(47,'in-62','fake/default/direct/5005','message','',946693920000,'','64f70db8-7f8e-4733-942c-c7c184a96914',0,0,'0841822768e26328eb67a3bc648b703e');
INSERT INTO seen VALUES(48,'tool:64f70db8-7f8e-4733-942c-c7c184a96914:c1','','submit','',946693920000,'','fadfaf99-1d43-4930-95c8-451154c365c1',0,0,'');
INSERT INTO seen VALUES(49,'in-64','fake/default/direct/2002','message','',946693980000,'','1f896bb2-da44-4bf5-ba47-82d43800c1b1',0,0,'3e29231f954ddeeb4cd6d62ba04b39b4');
INSERT INTO seen VALUES(50,'in-65','fake/default/direct/5005','message','',946693980000,'','ec8ef973-9fee-430d-8ede-7e7d63ffc0b1',0,0,'7ecd700c237166e9b22ead1862ce0f68');
INSERT INTO seen VALUES(51,'in-67','fake/default/direct/5005','message','',946693981000,'','4ce304fc-ef1c-46e1-85b3-819198af0382',0,0,'7beafca611c062d15b6c4e238c37dd52');
INSERT INTO seen VALUES(52,'in-69','fake/default/group/down','message','',946693981000,'','942b187a-24f9-430d-990a-1d93f6895edc',0,0,'bd2df5f1004b81fa54f6901e665fe85c');
INSERT INTO seen VALUES(53,'in-68','fake/default/group/there','message','',946693981000,'','cbb51b83-5b9b-42e5-baf7-8058025e9d7f',0,0,'1e1ff4ebe2d7203a3fb2aec34484031b');
INSERT INTO seen VALUES(54,'in-70','fake/default/group/stuck','message','',946693987000,'','bd732153-6b3c-4fd6-aff8-8c30581b62c3',0,0,'768a58e947d0e35a36d291fcb7519787');
INSERT INTO skipped VALUES(1,946686420000,'fake/default/group/here','bad','it is no JSON','{"a":"b"}');
INSERT INTO cursors VALUES('fake/default','42');
INSERT INTO pairings VALUES(3,'fake','default','3005','3005','',946686300000,946772760000,'fake/default/direct/3005');
INSERT INTO paired VALUES('fake','default','3004','3004',946686300000,0);
INSERT INTO notes VALUES(1,'main','agent:main:fake:direct:1001','The cat is called Mimi',946684860000,1);
INSERT INTO notes VALUES(2,'main','agent:main:subagent:586c8cbd-250e-58e8-82b2-4ba09b12cd22','The sub-agent has counted two apples',946693860000,1);
INSERT INTO spends VALUES(1,'00dc6acf-ac00-7001-a608-d5e20ffc2d12',946684800000,'6ae6783f-4fbd-491b-aeb8-8b73a48ed247','agent:main:fake:direct:1001','agent:main:fake:direct:1001','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(2,'00dc6ad0-9660-7000-9fb6-78d710f367fb',946684860000,'ee635acc-a8a1-42d7-a766-63f3d4157247','agent:main:fake:direct:1001','agent:main:fake:direct:1001','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(3,'00dc6ad0-9660-7002-9451-71bb9af2b298',946684860000,'ee635acc-a8a1-42d7-a766-63f3d4157247','agent:main:fake:direct:1001','agent:main:fake:direct:1001','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(4,'00dc6ad1-80c0-7000-b7d1-000930f8eecd',946684920000,'e498a123-19cf-4ec1-8b15-52d077866cff','agent:main:fake:direct:1001','agent:main:fake:direct:1001','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(5,'00dc6ad3-5580-7000-8ce1-b146bece598b',946685040000,'ffb9da32-cbf3-417b-996d-5088db91b4bd','agent:main:fake:direct:1001','agent:main:fake:direct:1001','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(6,'00dc6ad4-3fe0-7001-9942-47bcfd10b305',946685100000,'6dfec284-257a-42cf-a88c-da576ae5e204','agent:main:fake:group:here','agent:main:fake:group:here','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(7,'00dc6ad5-2a40-7000-b612-dd79f70c661a',946685160000,'d4545e34-e106-4c59-97b9-98d6639690ea','agent:main:fake:group:here','agent:main:fake:group:here','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(8,'00dc6ad5-2a40-7002-bbb7-0b210f0312b1',946685160000,'266c66ea-b0e4-58be-9b3a-c99873050520','agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b','agent:main:fake:group:here','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(9,'00dc6ad5-2a40-7003-be45-871d72ea3d6f',946685160000,'3c485fb6-fcf8-41fd-bf09-0e813b04c3cb','agent:main:subagent:c24bee05-187c-5ffb-b107-7c10d8b9c94b','agent:main:fake:group:here','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(10,'00dc6ad5-2a40-7005-95c0-6c4e2c0ff719',946685160000,'d4545e34-e106-4c59-97b9-98d6639690ea','agent:main:fake:group:here','agent:main:fake:group:here','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(11,'00dc6ad6-ff00-7000-b689-8c48db30b7aa',946685280000,'0c418cc4-29c9-4879-a4c5-2b6b65db36cb','agent:main:fake:group:here','agent:main:fake:group:here','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(12,'00dc6ad7-e960-7001-b3ea-4dc8afc0c3e9',946685340000,'e4a72c06-0da6-428e-8ff8-20dfb6880a8d','agent:main:fake:group:there','agent:main:fake:group:there','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(13,'00dc6ad8-d3c0-7000-8a96-07351327a147',946685400000,'9642da96-6928-49b9-8d6f-b5cc65a0e5a7','agent:main:fake:group:there','agent:main:fake:group:there','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(14,'00dc6ad8-d3c0-7002-8688-6431b1d45325',946685400000,'9642da96-6928-49b9-8d6f-b5cc65a0e5a7','agent:main:fake:group:there','agent:main:fake:group:there','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(15,'00dc6ad9-be20-7001-9a9c-59746e00ae9a',946685460000,'c474e22a-740f-4a50-816c-e351245549ff','agent:main:fake:group:here:topic:7','agent:main:fake:group:here:topic:7','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(16,'00dc6ada-a880-7000-86b9-60dbbe4a08c3',946685520000,'092d3745-e392-4da7-82c5-8f9f06c15b8c','agent:main:fake:group:here:topic:7','agent:main:fake:group:here:topic:7','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(17,'00dc6ada-a880-7002-a732-828ac1a6746c',946685520000,'98c29f02-0eca-4894-a6de-ba23f7cb5594','agent:main:fake:group:there','agent:main:fake:group:there','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(18,'00dc6ada-a880-7003-9ab6-68040c7a8247',946685520000,'092d3745-e392-4da7-82c5-8f9f06c15b8c','agent:main:fake:group:here:topic:7','agent:main:fake:group:here:topic:7','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(19,'00dc6ada-a880-7004-9cca-65d16cd953be',946685520000,'0a919ab2-5ea9-41dc-b98a-a183fe6899d4','agent:main:fake:group:here:topic:7','agent:main:fake:group:here:topic:7','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(20,'00dc6ada-a880-7005-9a42-919a586f9feb',946685520000,'98d055e5-0acc-4ab7-9b64-b111eec7e0bc','agent:main:fake:group:there','agent:main:fake:group:there','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(21,'00dc6adc-7d40-7000-bbaf-2476c5f49529',946685640000,'d99614dd-2749-486c-aa06-5aac61f02ed3','agent:main:fake:group:here:topic:7','agent:main:fake:group:here:topic:7','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(22,'00dc6ade-5200-7001-924f-98a956a426ba',946685760000,'d3f6007e-a973-480f-8155-9889ab92f685','agent:main:fake:group:wall','agent:main:fake:group:wall','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(23,'00dc6adf-3c60-7001-9ccc-bfde3d42231c',946685820000,'8a189557-9150-445b-a676-7cf7a3298dfc','agent:main:fake:group:fog','agent:main:fake:group:fog','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(24,'00dc6ae0-26c0-7001-bc1a-3a18f10f92c4',946685880000,'f439dbb9-87da-4c3a-b4de-ae23fca47314','agent:main:fake:group:gone','agent:main:fake:group:gone','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(25,'00dc6ae1-1120-7001-8665-f889f985457a',946685940000,'57371aa4-e6ef-4ead-8add-e7c13fe185f9','agent:main:fake:group:old','agent:main:fake:group:old','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(26,'00dc6ae1-fb80-7001-b949-4594602b8ef5',946686000000,'c37ea62e-8ed0-4f93-852b-b62033c18f01','agent:main:fake:group:quiet','agent:main:fake:group:quiet','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(27,'51b45973-0ea0-4f40-974a-3f575dba4210',946686120000,'e684aa1c-fef5-4267-8dbc-088ef4d0f87d','agent:main:fake:group:broken','agent:main:fake:group:broken','main','mock/m','failed',10,5,0,0,0);
INSERT INTO spends VALUES(28,'00dc6ae7-79c0-7001-91ac-ccd2de1f66ca',946686360000,'db1ef0b9-a382-4746-b081-9699af4509d7','agent:main:fake:direct:3004','agent:main:fake:direct:3004','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(29,'00dc6ae8-6420-7001-8fbe-ff3d7ade7b2b',946686420000,'bee8c17e-c16d-4c3b-92e7-1589e58770b4','agent:main:fake:group:brief','agent:main:fake:group:brief','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(30,'00dc6aea-38e0-7001-b0c6-44d7e9089b0e',946686540000,'4febfdec-671c-47a7-a513-9bc26a195cb1','agent:main:fake:group:deleted','agent:main:fake:group:deleted','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(31,'00dc6b2b-3980-7001-a5d6-04fead7d826f',946690800000,'21657b07-b299-568f-9784-662a352bd8f2','agent:main:cron:651470bc-a4a6-56f2-ad96-395a10e83f7f','agent:main:fake:group:there','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(32,'00dc6b59-0040-7001-81ec-e65904740855',946693800000,'81a27822-ac1a-453c-8e17-273d69309524','agent:main:fake:group:half','agent:main:fake:group:half','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(33,'00dc6b59-eaa0-7001-a648-41c07f54c43d',946693860000,'f5701508-2f5f-4d7d-9043-60c1a381e232','agent:main:fake:direct:5005','agent:main:fake:direct:5005','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(34,'00dc6b59-eaa0-7004-b979-ab6a96683493',946693860000,'f3bbd391-83c4-5a66-8853-f933b29844e0','agent:main:subagent:586c8cbd-250e-58e8-82b2-4ba09b12cd22','agent:main:fake:direct:5005','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(35,'00dc6b59-eaa0-7005-9ef1-648611c6f492',946693860000,'f5701508-2f5f-4d7d-9043-60c1a381e232','agent:main:fake:direct:5005','agent:main:fake:direct:5005','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(36,'00dc6b5a-d500-7000-afae-3c9511cd0dd9',946693920000,'64f70db8-7f8e-4733-942c-c7c184a96914','agent:main:fake:direct:5005','agent:main:fake:direct:5005','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(37,'00dc6b5a-d500-7002-aef8-069a2c2611b5',946693920000,'64f70db8-7f8e-4733-942c-c7c184a96914','agent:main:fake:direct:5005','agent:main:fake:direct:5005','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(38,'00dc6b5b-c348-7001-b221-9971cc975533',946693981000,'942b187a-24f9-430d-990a-1d93f6895edc','agent:main:fake:group:down','agent:main:fake:group:down','main','mock/m','',10,5,0,0,0);
INSERT INTO spends VALUES(39,'00dc6b5b-dab8-7001-88e9-de83f3b55803',946693987000,'bd732153-6b3c-4fd6-aff8-8c30581b62c3','agent:main:fake:group:stuck','agent:main:fake:group:stuck','main','mock/m','',10,5,0,0,0);
INSERT INTO lifts VALUES('day',946773000000);
INSERT INTO summaries VALUES(1,'summary',1,1,2,946686600000,'{"text":"They said hello.","messages":2}');
INSERT INTO overheard VALUES(1,'agent:main:fake:group:here','2002','2002','talk',946686420000,'not meant for the bot','','');
INSERT INTO jobs VALUES('651470bc-a4a6-56f2-ad96-395a10e83f7f','main',946696200000,946690800000,'{"id":"651470bc-a4a6-56f2-ad96-395a10e83f7f","name":"apples","agent":"main","every":5400000000000,"message":"count the apples again","from":"agent:main:fake:group:there","to":{"channel":"fake","account":"default","chat":"there","type":"group"},"asker":"fake:2002","next":"2000-01-01T01:40:00Z","created":"2000-01-01T00:10:00Z"}');
DELETE FROM note_words_data;
INSERT INTO note_words_data VALUES(1,X'020E');
INSERT INTO note_words_data VALUES(10,X'00000000FF000001010202000201010101010000010201010202000001');
INSERT INTO note_words_data VALUES(137438953473,X'00000049073063616C6C65640103017401010269730101046D696D69010103746865010123EE8081306436653430373965333637303365626433376330303732326635383931643201040904050706');
INSERT INTO note_words_data VALUES(274877906945,X'0000005B06306167656E7402020570706C6573020107636F756E746564020103686173020103737562020103746865020202776F020123EE80813064366534303739653336373033656264333763303037323266353839316432020408080A06060605');
DELETE FROM note_words_idx;
INSERT INTO note_words_idx VALUES(1,X'',2);
INSERT INTO note_words_idx VALUES(2,X'',2);
DELETE FROM note_words_docsize;
INSERT INTO note_words_docsize VALUES(1,X'06',1);
INSERT INTO note_words_docsize VALUES(2,X'08',2);
DELETE FROM note_words_config;
INSERT INTO note_words_config VALUES('version',4);
INSERT INTO receipts VALUES(1,'fake/default/direct/1001','out-2',1,946684800000);
INSERT INTO receipts VALUES(2,'fake/default/direct/1001','out-4',2,946684860000);
INSERT INTO receipts VALUES(3,'fake/default/direct/1001','out-6',3,946684920000);
INSERT INTO receipts VALUES(4,'fake/default/direct/1001','out-8',4,946684980000);
INSERT INTO receipts VALUES(5,'fake/default/direct/1001','out-10',5,946685040000);
INSERT INTO receipts VALUES(6,'fake/default/group/here','out-12',6,946685100000);
INSERT INTO receipts VALUES(7,'fake/default/group/here','out-14',7,946685160000);
INSERT INTO receipts VALUES(8,'fake/default/group/here','out-15',8,946685160000);
INSERT INTO receipts VALUES(9,'fake/default/group/here','out-17',9,946685220000);
INSERT INTO receipts VALUES(10,'fake/default/group/here','out-19',10,946685280000);
INSERT INTO receipts VALUES(11,'fake/default/group/there','out-21',11,946685340000);
INSERT INTO receipts VALUES(12,'fake/default/group/there','out-23',12,946685400000);
INSERT INTO receipts VALUES(13,'fake/default/group/here','out-25',13,946685460000);
INSERT INTO receipts VALUES(14,'fake/default/group/here','out-27',14,946685520000);
INSERT INTO receipts VALUES(15,'fake/default/group/there','out-28',15,946685520000);
INSERT INTO receipts VALUES(16,'fake/default/group/here','out-30',16,946685580000);
INSERT INTO receipts VALUES(17,'fake/default/group/new','out-37',22,946685940000);
INSERT INTO receipts VALUES(18,'fake/default/group/broken','out-40',24,946686060000);
INSERT INTO receipts VALUES(19,'fake/default/group/broken','out-42',25,946686120000);
INSERT INTO receipts VALUES(20,'fake/default/direct/3003','out-44',26,946686180000);
INSERT INTO receipts VALUES(21,'fake/default/direct/3004','out-46',27,946686240000);
INSERT INTO receipts VALUES(22,'fake/default/direct/3005','out-48',28,946686300000);
INSERT INTO receipts VALUES(23,'fake/default/direct/3004','out-50',29,946686360000);
INSERT INTO receipts VALUES(24,'fake/default/group/brief','out-52',30,946686420000);
INSERT INTO receipts VALUES(25,'fake/default/group/brief','out-54',31,946686480000);
INSERT INTO receipts VALUES(26,'fake/default/group/deleted','out-56',32,946686540000);
INSERT INTO receipts VALUES(27,'fake/default/group/there','out-57',33,946690800000);
INSERT INTO receipts VALUES(28,'fake/default/group/half','out-59',34,946693800000);
INSERT INTO receipts VALUES(29,'fake/default/direct/5005','out-61',35,946693860000);
INSERT INTO receipts VALUES(30,'fake/default/direct/5005','out-63',36,946693920000);
INSERT INTO openings VALUES('fake/default/direct/1001','',946684800000);
INSERT INTO openings VALUES('fake/default/direct/2002','',946693981000);
INSERT INTO openings VALUES('fake/default/direct/3003','fake/default',946686180000);
INSERT INTO openings VALUES('fake/default/direct/3004','fake/default',946686240000);
INSERT INTO openings VALUES('fake/default/direct/3005','fake/default',946686300000);
INSERT INTO openings VALUES('fake/default/direct/5005','',946693860000);
INSERT INTO previews VALUES('1f896bb2-da44-4bf5-ba47-82d43800c1b1','agent:main:fake:direct:2002','fake/default/direct/2002','1f896bb2-da44-4bf5-ba47-82d43800c1b1.preview','shown','out-66','word after word word after word word after word word after word word after word word after word word after word word after word word after word','',946693981000);
INSERT INTO aliases VALUES('agent:main:fake:group:new','agent:main:fake:group:old');
INSERT INTO moves VALUES('fake/default/group/new','fake/default/group/old');
INSERT INTO occurrences VALUES(1,'651470bc-a4a6-56f2-ad96-395a10e83f7f','apples','main',946690800000,946690800000,0,'','21657b07-b299-568f-9784-662a352bd8f2');
INSERT INTO lessons VALUES('mock','http://mock.example/v1','m','images','','','','no images','',946686600000);
CREATE INDEX transcripts_key ON transcripts(key);
CREATE INDEX transcripts_gone ON transcripts(num) WHERE gone = 1;
CREATE INDEX sessions_updated ON sessions(archived, updated);
CREATE INDEX sessions_agent ON sessions(agent, archived, updated);
CREATE INDEX sessions_parent ON sessions(spawned_by, updated) WHERE spawned_by <> '';
CREATE UNIQUE INDEX sessions_label ON sessions(label) WHERE label <> '' AND archived = 0 AND spawned_by = '';
CREATE INDEX sessions_archive ON sessions(archived, archive_at) WHERE archive_at > 0;
CREATE INDEX heard_key ON heard(key);
CREATE INDEX messages_transcript ON messages(transcript, seq);
CREATE INDEX runs_key ON runs(key, seq);
CREATE INDEX runs_active ON runs(key, seq) WHERE status IN ('queued', 'running');
CREATE INDEX runs_parent ON runs(parent, seq) WHERE parent <> '';
CREATE INDEX runs_open_below ON runs(parent, seq) WHERE parent <> '' AND status IN ('queued', 'running');
CREATE INDEX runs_root ON runs(root, seq) WHERE root <> '';
CREATE INDEX runs_by_agent ON runs(key, created) WHERE by_agent = 1;
CREATE INDEX deliveries_open ON deliveries(state, seq) WHERE state <> 'sent';
CREATE INDEX deliveries_session ON deliveries(session, seq) WHERE session <> '';
CREATE INDEX deliveries_run ON deliveries(run) WHERE run > 0;
CREATE INDEX deliveries_message ON deliveries(message_seq) WHERE message_seq > 0;
CREATE INDEX deliveries_awaits ON deliveries(awaits) WHERE awaits <> '';
CREATE UNIQUE INDEX seen_event ON seen(msg, address, event);
CREATE INDEX notes_agent ON notes(agent, num);
CREATE INDEX spends_at ON spends(at);
CREATE INDEX spends_payer ON spends(payer, at);
CREATE INDEX spends_agent ON spends(agent, at);
CREATE UNIQUE INDEX summaries_transcript ON summaries(transcript, number);
CREATE INDEX overheard_key ON overheard(key, seq);
CREATE INDEX jobs_next ON jobs(next, id);
CREATE INDEX notes_unindexed ON notes(num) WHERE indexed = 0;
CREATE INDEX receipts_msg ON receipts(chat, msg);
CREATE INDEX openings_account ON openings(account, at);
CREATE INDEX aliases_target ON aliases(target);
CREATE INDEX occurrences_job ON occurrences(job, num);
CREATE INDEX runs_batch ON runs(batch, seq) WHERE batch <> '';
CREATE INDEX moves_was ON moves(was);
COMMIT;
