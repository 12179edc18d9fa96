// Package source loads the effective configuration of an OpenClaw state folder: one tree in OpenClaw's current layout.
//
// Load runs these parts in order; each owns what it reads:
//
//   - Folder opens files below the state folder.
//   - includer follows $include and merges the files into one tree.
//   - modernize brings the layouts of older versions into today's. It is a function of the tree.
//   - Variables resolves ${VAR} and moves secrets out of the tree. keyReader adds the keys that OpenClaw stored for model providers.
//   - jobReader lists the scheduled jobs.
//   - workspaceReader reads persona, memory and heartbeats of the agents' folders.
//
// The conversion (package convert) therefore knows one layout. Texts in the tree follow parley's rules for variables: ${NAME} is a reference,
// $${ is a literal ${. A secret is always a reference; Variables.Getenv returns its value. The report gets places and reasons, never the value of a
// secret.
//
// Load reads regular files below the folder only, and writes nothing. It starts no goroutine and keeps nothing open.
package source
