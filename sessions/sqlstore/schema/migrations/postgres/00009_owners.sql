-- +goose Up
-- Who owns what only one host at a time may do. Each new connection of an owner takes a new term; each commit that writes counts in seq, in
-- its own transaction. A connection that was replaced commits nothing more, and whether a commit was made is known after its answer was lost.
CREATE TABLE owners (
  name text COLLATE "C" PRIMARY KEY,
  host text COLLATE "C" NOT NULL,
  term bigint NOT NULL,
  seq  bigint NOT NULL
);
