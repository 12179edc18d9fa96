-- +goose Up
-- Who an account is on its platform, as the platform said. An account of another name that is the same one takes its place.
CREATE TABLE logins (
  channel  text COLLATE "C" NOT NULL,
  account  text COLLATE "C" NOT NULL,
  identity text COLLATE "C" NOT NULL,
  became   text COLLATE "C" NOT NULL DEFAULT '', -- the account that took its place
  PRIMARY KEY (channel, account)
);
