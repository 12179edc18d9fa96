// Package locate finds the state folders of OpenClaw on this machine, and tells whether OpenClaw is running on one.
//
// It reads names, small lock files and the process table; it opens no configuration and no database, and writes nothing. Running asks one address of
// this machine for at most a second. It owns nothing and starts nothing that outlives a call.
package locate
