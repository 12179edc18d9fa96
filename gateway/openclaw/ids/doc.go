// Package ids writes the ids of people, chats, agents and accounts that OpenClaw's files have as this program has them.
//
// It stands right of config, whose adapters know ids, and left of convert and openclaw. It keeps nothing.
package ids
