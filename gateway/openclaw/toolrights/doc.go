// Package toolrights finds out which of parley's tools the lists of OpenClaw permit.
//
// The two programs have different tools. A tool of parley's that replaces several needs all of them to be permitted, and where several lists hold,
// all of them must permit it. The package reads no configuration: convert reads the lists, and reports what cannot be read.
//
// It stands right of policy, whose patterns and groups it uses, and left of convert. It keeps nothing.
package toolrights
