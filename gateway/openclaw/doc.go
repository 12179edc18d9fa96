// Package openclaw reads the state folder of OpenClaw and makes a configuration, sessions, jobs, notes and paired people of parley:
// `parley import openclaw`.
//
// It stands right of config, which checks the result. state.go reads the folder and result.go writes to a store. The packages below do one part
// each: source reads the configuration, convert translates it, history and database read the sessions, locate finds folders and processes, and
// report holds the lines for the user. A section that cannot be read is a line of the report.
//
// Read changes nothing of OpenClaw. A Result keeps the folder open, and copies of databases in a temporary folder, until Close. No goroutine starts.
//
// Errors: a folder that is not one of OpenClaw's, and a folder that cannot be opened.
package openclaw
