package source

// Workspace is the folder of an agent.
type Workspace struct {
	Agent string   // OpenClaw's id
	Path  string   // as the configuration has it, or relative to the state folder
	In    bool     // Path is relative to the state folder
	Files []string // persona, memory and heartbeat files that exist
}
