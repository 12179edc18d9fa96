// Package history reads the sessions of an OpenClaw state folder and makes sessions of parley out of them, whatever version wrote them.
//
// It stands right of database and report and left of openclaw. Three layouts can be in one folder: sessions.json with JSONL transcripts in the
// root (2025), the same for each agent (until 2026.7), and SQLite (since 2026.8). jsonl.go and tables.go find sessions; both make the same:
// a key, an entry, and windows. A window is the transcript between two resets. event.go reads the events of a window, wrapping.go removes
// what OpenClaw wrote around texts, folder.go names what was not read.
//
// Read reads everything once, so that the report is complete. Histories are kept in memory up to a bound; the others are read again by
// Imported.Messages. Of a large session the newest events are read. A History is used by one goroutine and needs its folder until the last session was taken.
//
// Errors: only those of ctx. What cannot be read is a line of the report.
package history
