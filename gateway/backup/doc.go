// Package backup makes an archive of a state folder while a host works on it, and puts one in the place of a state folder.
//
// It stands right of configfile and of the store, whose own copy of its database it takes. An archive is a tar file in gzip. Its entries are plain files with relative
// paths; the last one is manifest.json, which lists all others with their sizes and hashes: an archive that was cut off has none, and one that was changed does not
// agree with it. Restore writes beside the folder and renames at the end; what was there before is kept.
//
// It owns the folder only during a restore (sqlstore.Hold). It takes no lock and starts no goroutine.
//
// Errors: ErrArchive (no whole backup), ErrTooLarge, sessions.ErrInUse while a host has the folder.
package backup
