// Package config reads parley's configuration: strict YAML in, one checked Config out, and replaces the one in force when the file is read again.
//
// It stands right of configfile, which finds the file, and of field, which reads the tags of structs; schema describes the keys from the same structs. The sections
// belong to the packages that use them (agent.Config, sessions.Config, hooks.Config); this package assembles them. A file goes through syntax.go (YAML, and what
// the parser's errors mean), decode.go (keys and values into structs), ids.go (ids as adapters write them), then the methods of checker (what several keys must
// agree on: check.go, check_*.go, and the files named after a section). The texts of some errors are in policy.Access.Check, route.Table.Check and
// hooks.Config.Check.
//
// Config is immutable. Live owns the one in force, behind an atomic pointer: there are no locks, and nothing is started.
//
// Errors: *Invalid, with every Problem of the file at once, each with file, line and key. No Problem repeats a secret or what a variable contains.
package config
