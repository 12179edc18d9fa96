// Package schema describes the configuration for people and editors: the reference page docs/config.md and the JSON Schema docs/config.schema.json.
//
// It stands right of config and reads the tags of the structs that config fills, so what is described is what is read. Words about a key are in the doc tag of its
// field, in the package that uses it; words about the file as a whole are here. It is pure: it owns nothing, takes no lock and starts nothing.
//
// JSON fails when a channel's struct has a field that cannot be configured, or one with the name of a common field.
package schema
