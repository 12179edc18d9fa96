-- +goose Up
-- Which messages a turn answers besides its own is asked several times in each turn of a group.
CREATE INDEX runs_batch ON runs(batch, seq) WHERE batch <> '';
