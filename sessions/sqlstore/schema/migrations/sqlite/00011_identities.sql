-- +goose Up
-- The ids that people had before, as platforms told when a direct chat moved (WhatsApp: a number that was hidden became known).
CREATE TABLE identities (
  channel TEXT NOT NULL,
  was     TEXT NOT NULL,
  now     TEXT NOT NULL,
  PRIMARY KEY (channel, was)
) WITHOUT ROWID;
-- What is sent to a chat's old address is sent to the one that it has now.
CREATE INDEX moves_was ON moves(was);
