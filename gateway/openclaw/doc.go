// Package openclaw reads the state folder of an OpenClaw and makes a configuration and sessions of parley out of it: `parley import openclaw`.
//
// It stands right of config, which checks what it makes. state.go reads the folder, package source its configuration, config.go and what belongs to it translate section by section,
// transcript.go the sessions. The report says what is carried over, what is carried over differently, and what is not; a section that cannot be read is a line in it.
//
// It reads only, and writes nothing of the other program's. It owns nothing, takes no lock and starts no goroutine.
//
// Errors: a folder that is none of OpenClaw's, and a configuration with too many faults.
package openclaw
