-- +goose Up
-- Who an account is on its platform, as the platform said. An account of another name that is the same one takes its place.
CREATE TABLE logins (
  channel  TEXT NOT NULL,
  account  TEXT NOT NULL,
  identity TEXT NOT NULL,
  became   TEXT NOT NULL DEFAULT '', -- the account that took its place
  PRIMARY KEY (channel, account)
) WITHOUT ROWID;
