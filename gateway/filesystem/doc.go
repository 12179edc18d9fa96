// Package filesystem asks the system about files and folders: the room and the kind of a file system, and regular files opened without waiting.
//
// It imports nothing of parley. Of differs by system (disk_*.go). Open refuses FIFOs, sockets and devices, so that a file in the place of the configuration or of a
// certificate cannot make the host wait.
//
// It owns nothing, takes no lock and starts nothing. Errors: ErrNotRegular, and those of the system.
package filesystem
