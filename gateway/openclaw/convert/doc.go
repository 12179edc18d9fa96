// Package convert makes a configuration of parley out of an effective configuration of OpenClaw: today's layout, files included, variables in the
// places of secrets.
//
// It stands right of config, which checks the result, and left of openclaw, which reads the folder. It reads no file, and asks only whether the
// folder of a workspace exists. Keys that mean the same in both programs are a table (rules.go). Values whose parts restrict each other are
// converted as a whole: people and groups of an account (access.go, guilds.go), tools (tools.go), the send policy (send.go), bindings
// (bindings.go), owners and paired people (channels.go).
//
// It fails closed. A permission that cannot be carried over exactly is left out, and the report says how to get it back; finish.go
// disables whatever parley would still refuse. It admits nobody whom OpenClaw did not admit: TestAdmitsNobodyNew compares the two.
package convert
