// Package locate finds the state folders of OpenClaw on this machine, and tells whether OpenClaw is running on one.
//
// It reads names, small lock files and the process table; it opens no configuration and no database, and writes nothing. The caller passes the leases
// that the database has. Running connects to one port of this machine, for at most a second, and sends nothing. It owns nothing and starts nothing
// that outlives a call.
package locate
