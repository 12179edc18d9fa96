package agent

import (
	"regexp"
	"slices"
	"strings"

	"parley/channels"
	"parley/channels/pattern"
	"parley/tools"
)

// secretKey is how the names of settings are written whose value lets somebody in.
var secretKey = pattern.New(`(?i)key|token|secret|pass|auth|cred|signature`)

// openKey is how names are written that only look so: the key of a cache groups requests.
var openKey = pattern.New(`(?i)cache_?key$`)

func isSecretKey(name string) bool { return secretKey.MatchString(name) && !openKey.MatchString(name) }

// openQuery is how parts of a query are named that anybody may see. What else stands there may be a signature of the address.
var openQuery = pattern.New(`(?i)version|model|deployment|region|project`)

// Secrets returns what must appear in no text: the values of headers and of the query, but for plain words, versions and the like, and those
// of the body whose name says that they are secret.
func (s ModelSettings) Secrets() (out []channels.Secret) {
	for name, v := range s.Headers {
		if tools.IsOpenSetting(name, v.Reveal()) {
			continue
		}
		out = append(out, v)
		if _, token, ok := strings.Cut(v.Reveal(), " "); ok { // Bearer …
			out = append(out, channels.NewSecret(token))
		}
	}
	for name, v := range s.Query {
		if !openQuery.MatchString(name) && !tools.IsOpenSetting(name, v) {
			out = append(out, channels.NewSecret(v))
		}
	}
	return append(out, bodySecrets("", s.Body)...)
}

// bodySecrets walks a value of the body; name is the key that it stands at.
func bodySecrets(name string, v any) (out []channels.Secret) {
	switch x := v.(type) {
	case string:
		if isSecretKey(name) {
			out = append(out, channels.NewSecret(x))
		}
	case []any:
		for _, e := range x {
			out = append(out, bodySecrets(name, e)...)
		}
	case map[string]any:
		for k, e := range x {
			out = append(out, bodySecrets(k, e)...)
		}
	}
	return out
}

// keyedText is a text that stands at a key, in JSON that may be cut off.
var keyedText = regexp.MustCompile(`"([^"\\]*)"\s*:\s*"`)

// HasSecret reports whether a field of the body has a secret in it: raw is its value as JSON, or a text, and may be cut off.
func HasSecret(name string, raw []byte) bool {
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' {
		return isSecretKey(name) && !isNumber(string(raw))
	}
	if isSecretKey(name) {
		return true
	}
	for _, m := range keyedText.FindAllSubmatch(raw, -1) {
		if isSecretKey(string(m[1])) {
			return true
		}
	}
	return false
}

// isNumber reports whether a value is a number, or true, false or null: max_tokens is no secret.
func isNumber(raw string) bool {
	return slices.Contains([]string{"true", "false", "null"}, raw) || strings.Trim(raw, "0123456789.eE+-") == ""
}

// Secrets returns what of the provider must appear in no text: its key, and the secrets of its settings and of its models' settings.
func (p Provider) Secrets() []channels.Secret {
	out := append([]channels.Secret{p.APIKey}, p.ModelSettings.Secrets()...)
	for _, m := range p.Models {
		out = append(out, m.ModelSettings.Secrets()...)
	}
	return out
}
