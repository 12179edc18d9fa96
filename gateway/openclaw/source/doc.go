// Package source loads the effective configuration of an OpenClaw state folder: one tree in OpenClaw's current layout.
//
// Load follows $include, fills in ${VAR}, moves secrets out of the tree, and brings the layouts of older versions into today's. The conversion
// (package convert) therefore knows one layout. Load also lists the scheduled jobs and the workspace folders.
//
// Texts in the tree follow parley's rules for variables: ${NAME} is a reference, $${ is a literal ${. A secret is always a reference; its value is in
// Source.Variable. The report gets places and reasons, never the value of a secret.
//
// Load reads regular files below the folder only, and writes nothing. It starts no goroutine and keeps nothing open.
package source
