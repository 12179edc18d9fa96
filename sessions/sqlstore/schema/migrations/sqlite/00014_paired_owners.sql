-- +goose Up
-- A person who was let in and is an owner, besides those of the configuration.
ALTER TABLE paired ADD COLUMN owner INTEGER NOT NULL DEFAULT 0;
