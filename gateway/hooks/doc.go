// Package hooks takes what programs outside send by HTTP: to the main session (wake), to a session of its own (agent), or as a mapping of the configuration has it.
//
// It stands right of router/inbound, which accepts the events, and is mounted by server. Which mapping applies and how its text is made is compiled when the
// configuration is applied (compile.go, template.go). Whatever comes is data: it is no command, and has no rights of an owner.
//
// It owns the rules in force, behind an atomic pointer, and the number of running requests (slots). The lock of slots is a leaf. It starts no goroutine.
//
// Errors are answers of HTTP: 401 without the token, 404 without a mapping, 422 for a body that does not fit, 429 or 503 when there are too many.
package hooks
