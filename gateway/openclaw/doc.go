// Package openclaw reads the state folder of an OpenClaw and makes a configuration and sessions of parley out of it: `parley import openclaw`.
//
// It stands right of config, which checks what it makes. locate finds the folder, source loads its configuration, convert translates that section by
// section, database opens its databases, history reads the sessions, report collects the lines. The report says what is carried over, what is carried
// over differently, and what is not; a section that cannot be read is a line in it.
//
// It reads only, and writes nothing of the other program's. A Result keeps copies of databases open until Close. No lock, no goroutine.
//
// Errors: a folder that is none of OpenClaw's, and a configuration with too many faults.
package openclaw
