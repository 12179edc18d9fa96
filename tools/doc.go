// Package tools holds the Tool contract and the tools that come with parley: one file a tool, with the text that the model reads in a .md file of the
// same name.
//
// It stands right of sessions and left of agent. A tool asks the host by Host and reads by Store; what the caller may see is the rule
// sessions.Rules.See, which scope.go and resolve.go apply. mcp, right of it, makes tools of foreign servers.
//
// Owns, in memory: which session waits for which, and how much went from one to another within a minute; a restart forgives both. Their mutexes are
// leaves. A folder of an agent is changed by one tool at a time. A tool runs in the goroutine of its turn.
//
// What a model did wrong is a Result with words that say what to do. An error is the host's.
package tools
