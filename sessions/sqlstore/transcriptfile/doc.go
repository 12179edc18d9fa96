// Package transcriptfile writes the JSONL copies of transcripts that people read, behind the commits.
//
// It stands between sendlog and schema. Repositories add lines to Pending, which hands them over behind the commit; transcript reads what
// is missing in a file (Source). The line of a message is made in source.go: sessions.Message in the form of
// sessions/millis.go, without what Message.Readable removes; headers and lines of deliveries are made in file.go. Writer owns the files agents/<agent>/sessions/<id>.jsonl and what is known of them.
//
// The database's writer alone calls Pending. Writer.Run is a goroutine: it alone touches the files and Writer.files. Writer.mu guards
// what waits; it is not held during I/O, and no other lock is taken under it. Append never blocks; when too much waits, lines are
// dropped, and their files are completed from the store.
//
// A file that cannot be written is logged and completed later; only Rebuild returns errors.
package transcriptfile
