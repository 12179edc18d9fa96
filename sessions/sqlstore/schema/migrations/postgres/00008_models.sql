-- +goose Up
-- What a model's provider wants back with the blocks of a message, as JSON: it is read for prompts only.
ALTER TABLE messages ADD COLUMN opaque text NOT NULL DEFAULT '';
-- What the endpoints of models were seen to refuse. It can be lost without harm: a refused request teaches it again.
CREATE TABLE lessons (
  provider text COLLATE "C" NOT NULL,
  address  text COLLATE "C" NOT NULL,
  model    text COLLATE "C" NOT NULL,
  kind     text COLLATE "C" NOT NULL,
  name     text COLLATE "C" NOT NULL,
  value    text COLLATE "C" NOT NULL,
  instead  text NOT NULL,
  evidence text NOT NULL,
  config   text NOT NULL,
  at       bigint NOT NULL,
  PRIMARY KEY (provider, address, model, kind, name, value)
);
