-- +goose Up
-- What became of each time of a scheduled job. It stays when the job is over.
CREATE TABLE occurrences (
  num     bigint PRIMARY KEY,
  job     text COLLATE "C" NOT NULL,
  name    text COLLATE "C" NOT NULL,
  agent   text COLLATE "C" NOT NULL,
  due     bigint NOT NULL,
  at      bigint NOT NULL,
  forced  bigint NOT NULL,
  skipped text COLLATE "C" NOT NULL, -- why nothing was begun
  run     text COLLATE "C" NOT NULL
);
CREATE INDEX occurrences_job ON occurrences(job, num);
