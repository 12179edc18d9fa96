// Package twoworlds runs every tool in pairs of worlds that differ only in rows that the caller may not see: in sessions of others, what
// was said there, their notes, jobs, runs, deliveries, sub-agents and files. Each answer must be the same, byte for byte (contract V4).
package twoworlds
