package turn

import (
	"time"

	"parley/agent"
	"parley/router/settings"
	"parley/sessions"
)

// PromptFiles gives the files of an agent's workspace that stand in its system prompt: what it is to do, and for those who talk to
// people who it is. What cannot be read is left out, with a line in the log.
func (w *Worker) PromptFiles(id sessions.AgentID, persona bool) (files []agent.PromptFile) {
	if w.workspace == nil {
		return nil
	}
	dir := w.workspace(id)
	if dir == "" {
		return nil
	}
	read := []func(string) (agent.PromptFile, error){w.workspaces.Instructions}
	if persona {
		read = append(read, w.workspaces.Persona)
	}
	for _, f := range read {
		file, err := f(dir)
		if err != nil {
			w.log.Warn("skipped a file of a workspace", "agent", id, keyErr, err)
		}
		if file.Text != "" {
			files = append(files, file)
		}
	}
	return files
}

// zoneOf is where agents are told the time; a name that is not known is the configuration check's to report.
func zoneOf(s *settings.Snapshot) *time.Location {
	if name := s.Agents.Defaults.Timezone; name != "" {
		if z, err := time.LoadLocation(name); err == nil {
			return z
		}
	}
	return time.Local //nolint:gosmopolitan // the host's zone is what the configuration promises
}

// zoneName names a zone for people and models.
func zoneName(z *time.Location) string {
	if name := z.String(); name != "Local" {
		return name
	}
	return time.Now().In(z).Format("MST, UTC-07:00")
}
