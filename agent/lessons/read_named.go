package lessons

import (
	"strings"

	"parley/channels/pattern"
	"parley/sessions"
)

var (
	// ofUsage is in errors about the counts of tokens of a stream, which stream_options asks for.
	ofUsage = pattern.New(`\busage(?: (?:statistics|information|data|stats|counts?|chunks?|reporting))?\b[^\n.]{0,40}\bstream|\bstream[a-z]*\b[^\n.]{0,30}\busage\b`)
	// inTools is in errors that name a place in a tool or in a message.
	inTools = pattern.New(`\b(?:tools|functions|messages|input|contents)(?:\[|\.|/)\d|\btool (?:name|definition|description)|\bfunction declaration`)
)

// readNamed reads errors that name an optional parameter that was sent, whatever else they speak of: the schema of the request, the stream
// that the parameter belongs to.
// source: laravel.com/docs/validation#rule-prohibited, valibot.dev/api/strictObject (kind: schema), platform.openai.com/docs/guides/error-codes
func readNamed(r reading) (sessions.Lesson, bool) {
	if inTools.MatchString(strings.ToLower(r.f.Param) + "\n" + r.text) {
		return sessions.Lesson{}, false
	}
	for _, p := range r.sent.Params {
		if p.Value == Unset || p.Fixed || p.Setting != "" || p.Effort || !strings.Contains(p.Name, "_") || strings.Contains(p.Name, ".") {
			continue
		}
		if (r.refuses() || r.f.Status == 400 || r.f.Status == 422) && (r.names(p) || p.Name == StreamOptions && ofUsage.MatchString(r.text)) {
			return p.refused(r.nearest(p)), true
		}
	}
	return sessions.Lesson{}, false
}

// StreamOptions is the parameter that asks for the counts of tokens of a stream.
const StreamOptions = "stream_options"

// spelled gives a text in which a name of several words has its underscores, however its words are joined there.
func spelled(text, name string) string {
	for _, join := range []string{" ", "-"} {
		text = strings.ReplaceAll(text, strings.ReplaceAll(name, "_", join), name)
	}
	return text
}
