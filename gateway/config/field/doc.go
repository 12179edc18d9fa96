// Package field reads the tags by which a struct describes its keys in the configuration: name, default, bounds, words for people.
//
// It stands left of config, which fills structs by it, and of config/schema, which describes them; it imports only channels, for the type of secrets. A default is the
// tag of its key; where none can be (what is unset means something else), it is a constant beside the code that reads the key. A new tag begins here. It is pure: Of
// reads a type, Fill sets defaults, SetText reads one value. A Cache belongs to one goroutine. There are no locks, and nothing is started.
//
// A default that does not fit its field is a mistake in the source, and panics; every test meets it. Else the errors are those of strconv.
package field
