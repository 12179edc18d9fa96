-- +goose Up
-- Who owns what only one host at a time may do: see the PostgreSQL migration. A SQLite database has one host, which the lock of its folder
-- names, and counts its commits in meta.
CREATE TABLE owners (
  name TEXT PRIMARY KEY,
  host TEXT NOT NULL,
  term INTEGER NOT NULL,
  seq  INTEGER NOT NULL
) WITHOUT ROWID;
