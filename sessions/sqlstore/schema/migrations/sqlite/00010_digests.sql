-- +goose Up
-- What a message said, as a hash, so that an event that changes nothing is known as one. Rows of before have none.
ALTER TABLE seen ADD COLUMN digest TEXT NOT NULL DEFAULT '';
