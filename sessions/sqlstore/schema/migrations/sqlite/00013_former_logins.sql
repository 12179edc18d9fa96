-- +goose Up
-- Who an account was before another login got its name, newest first, each followed by a line break: what the old one was denied under
-- that name, it is denied where it appears next.
ALTER TABLE logins ADD COLUMN former TEXT NOT NULL DEFAULT '';
