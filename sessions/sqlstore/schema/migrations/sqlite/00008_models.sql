-- +goose Up
-- What a model's provider wants back with the blocks of a message, as JSON: it is read for prompts only.
ALTER TABLE messages ADD COLUMN opaque TEXT NOT NULL DEFAULT '';
-- What the endpoints of models were seen to refuse. It can be lost without harm: a refused request teaches it again.
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
