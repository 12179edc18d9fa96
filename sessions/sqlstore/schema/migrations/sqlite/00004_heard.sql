-- +goose Up
-- When a person last wrote in a session: whether it starts over depends on that, not on commands, jobs and what other agents say.
ALTER TABLE sessions ADD COLUMN heard INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET heard = updated;
