package agent

import (
	"parley/sessions"
)

// What the host itself puts between the messages that a model is shown, in Message.Provenance.Tool.
const (
	summaryTool = "compact"
	openTool    = "open"
	// SummaryRequest marks what a model is asked to sum up.
	SummaryRequest = "summary"
)

// SummaryMessage is what a model is shown in place of the messages that s covers.
func SummaryMessage(s sessions.Summary, text string) sessions.Message {
	return fromHost("summary-"+s.ID, summaryTool, text, s)
}

// OpenMessage tells a model what is under way of what s covers.
func OpenMessage(s sessions.Summary, text string) sessions.Message {
	return fromHost("open-"+s.ID, openTool, text, s)
}

func fromHost(id, tool, text string, s sessions.Summary) sessions.Message {
	return sessions.Message{ID: id, Role: sessions.User, Content: sessions.TextContent(text), Time: s.Time,
		Provenance: &sessions.Provenance{Kind: sessions.InternalSystem, Tool: tool}}
}

// IsSummary reports whether a message stands for the older part of a transcript.
func IsSummary(m sessions.Message) bool { return hostTool(&m) == summaryTool }

func hostTool(m *sessions.Message) string {
	if p := m.Provenance; p != nil && p.Kind == sessions.InternalSystem {
		return p.Tool
	}
	return ""
}
