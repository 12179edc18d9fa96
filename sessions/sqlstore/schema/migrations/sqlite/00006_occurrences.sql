-- +goose Up
-- What became of each time of a scheduled job. It stays when the job is over.
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
CREATE INDEX occurrences_job ON occurrences(job, num);
