-- +goose Up
-- Notes are found by their words, as messages are. Those that are there already get theirs at the next start.
ALTER TABLE notes ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX notes_unindexed ON notes(num) WHERE indexed = 0;
CREATE VIRTUAL TABLE note_words USING fts5(text, content='', contentless_delete=1, detail=none, tokenize='ascii');
