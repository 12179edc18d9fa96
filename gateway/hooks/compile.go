package hooks

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// rule is a mapping whose templates are read.
type rule struct {
	Mapping
	message, name, session, to *template.Template
}

// Problem is a fault of the section hooks: the key below hooks, and what to do.
type Problem struct{ Path, Text, Hint string }

// reserved are the first words of paths that the host itself uses.
var reserved = []string{"api", "v1", "mcp", "channels", "static", "login", "logout", "healthz", "readyz", "metrics", "sessions", "runs", "deliveries", "policy", "pairing", "usage", "cron", "status", "search"}

var (
	oneWord  = regexp.MustCompile(`^/[A-Za-z0-9_-]+$`)
	rulePath = regexp.MustCompile(`^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)*$`)
)

// Check says what is wrong with the section alone.
func (c Config) Check() (out []Problem) {
	switch {
	case !oneWord.MatchString(c.Path):
		out = append(out, Problem{"path", "must be a slash and one word", "for example /hooks"})
	case slices.Contains(reserved, c.Path[1:]):
		out = append(out, Problem{"path", "is a path of the host itself", "use another path, for example /hooks"})
	}
	if t := c.Token.Reveal(); c.Enabled && t == "" {
		out = append(out, Problem{"token", "is missing, and hooks are enabled", "set a token of their own, for example ${PARLEY_HOOKS_TOKEN}"})
	}
	_, problems := compile(c.Mappings)
	return append(out, problems...)
}

// compile reads the templates of mappings.
func compile(mappings []Mapping) (rules []rule, out []Problem) {
	for i, m := range mappings {
		at := fmt.Sprintf("mappings[%d].", i)
		bad := func(key, text, hint string) { out = append(out, Problem{at + key, text, hint}) }
		switch {
		case m.Path == "": // the section's own check says so
		case !rulePath.MatchString(m.Path) || strings.Contains(m.Path, ".."):
			bad("path", "is not a path", "letters, digits, _ - . and / between words, for example github or ci/main")
		case m.Path == "wake" || m.Path == "agent":
			bad("path", "is one of parley's own hooks", "use another word")
		}
		if m.Match.Field == "" && len(m.Match.Equals) > 0 {
			bad("match.field", "is missing: equals needs a field", "for example field: action")
		}
		if (m.Signature.Header == "") != m.Signature.Secret.IsZero() {
			bad("signature", "needs both header and secret", "for example header: X-Hub-Signature-256")
		}
		if m.Action == "wake" && (m.Session != "" || m.To != "") {
			bad("action", "wake uses the main session and its chat", "remove sessionKey and to, or set action: agent")
		}
		r := rule{Mapping: m}
		for _, f := range []struct {
			key, text string
			to        **template.Template
		}{{"message", m.Message, &r.message}, {"name", m.Name, &r.name}, {"sessionKey", m.Session, &r.session}, {"to", m.To, &r.to}} {
			t, err := Parse(f.key, f.text)
			if err != nil {
				bad(f.key, "is not a valid template: "+err.Error(), `a missing field is empty; {{get .commits 0 "message"}} reads from a list`)
			}
			*f.to = t
		}
		rules = append(rules, r)
	}
	return rules, out
}
