-- +goose Up
-- Notes are found by their words, as messages are. Those that are there already get theirs at the next start.
ALTER TABLE notes ADD COLUMN indexed bigint NOT NULL DEFAULT 0;
CREATE INDEX notes_unindexed ON notes(num) WHERE indexed = 0;
ALTER TABLE notes ADD COLUMN words tsvector;
CREATE INDEX notes_words ON notes USING gin (words);
