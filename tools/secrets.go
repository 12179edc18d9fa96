package tools

import (
	"net/url"
	"slices"
	"strings"
	"unicode"

	"parley/channels"
	"parley/channels/pattern"
)

// Secrets gives the texts of a server's configuration that are nobody's business: of its headers and its environment what is
// named like a secret or is no plain text, of addresses what may let one in, of arguments what looks like a secret. Longer ones
// are before shorter ones, which may be parts of them.
func (m MCPServer) Secrets() []channels.Secret {
	var out []channels.Secret
	add := func(texts ...string) {
		for _, t := range texts {
			out = append(out, channels.NewSecret(t))
		}
	}
	for name, v := range m.Headers {
		if IsOpenSetting(name, v.Reveal()) {
			continue
		}
		add(v.Reveal())
		if _, token, ok := strings.Cut(v.Reveal(), " "); ok { // Bearer …
			add(token)
		}
	}
	for name, v := range m.Env {
		if !IsOpenSetting(name, v.Reveal()) {
			add(v.Reveal())
		}
		add(keysOf(v.Reveal())...)
	}
	add(keysOf(m.URL)...)
	for i, arg := range m.Args {
		name, value, given := strings.Cut(arg, "=")
		if !given || strings.Contains(name, "://") {
			name, value = "", arg
			if i > 0 && strings.HasPrefix(m.Args[i-1], "-") && !strings.ContainsRune(m.Args[i-1], '=') && !strings.HasPrefix(arg, "-") {
				name = m.Args[i-1] // --token …
			}
		}
		keys := keysOf(value)
		if len(keys) > 0 || secretName.MatchString(name) || opaque(value) {
			add(value)
		}
		add(keys...)
	}
	slices.SortStableFunc(out, func(a, b channels.Secret) int { return len(b.Reveal()) - len(a.Reveal()) })
	return out
}

// IsOpenSetting reports whether a setting, by its name and by what it says, is one that anybody may read: a plain word under a plain name.
// Answers may say the same words.
func IsOpenSetting(name, value string) bool {
	return !secretName.MatchString(name) && plainText.MatchString(value) && !credentials.MatchString(value) && len(keysOf(value)) == 0
}

// credentials is how the value of an Authorization header begins, under whatever name it is sent.
var credentials = pattern.New(`(?i)^(bearer|basic|token|digest|apikey) `)

// AddressSecrets gives the texts of an address that may let one in. What of its query is a plain word under a plain name is a setting.
func AddressSecrets(address string) (out []channels.Secret) {
	address, query, _ := strings.Cut(address, "?")
	keys := keysOf(address)
	for _, pair := range strings.Split(query, "&") {
		if name, value, _ := strings.Cut(pair, "="); secretName.MatchString(name) || !plainText.MatchString(value) {
			keys = append(keys, keysOf("://?"+pair)...)
		}
	}
	for _, key := range keys {
		out = append(out, channels.NewSecret(key))
	}
	return out
}

// secretName is how the names of settings are written whose value lets somebody in. Signed addresses call it sig (Azure) or code.
// source: https://learn.microsoft.com/azure/storage/common/storage-sas-overview, https://learn.microsoft.com/azure/azure-functions/function-keys-how-to
var secretName = pattern.New(`(?i)key|token|secret|pass|auth|cred|dsn|cookie|signature|hmac|(^|[^a-z])(sig|code|sas)([^a-z]|$)`)

// plainText is what people write as a setting: words and numbers, with what stands between them in names, lists and paths.
var plainText = pattern.New(`^` + plainWord + `(([ /_.,~-]|:/|:[0-9])+` + plainWord + `)*$`)

const plainWord = `([A-Z]?[a-z]{0,19}|[A-Z]{1,19})[0-9]{0,8}`

// opaque reports whether a text is long and no words: letters and digits, no path.
func opaque(s string) bool {
	return len(s) >= 16 && !plainText.MatchString(s) && strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, unicode.IsLetter) && !strings.ContainsAny(s, "/@ ")
}

// keysOf gives what of an address may let one in: its user's password (or the user's name, where that is all), values of its query, and
// parts of its path that are no words. Nothing for what is no address.
func keysOf(s string) []string {
	i := strings.Index(s, "://")
	if i < 0 {
		return nil
	}
	rest, query, _ := strings.Cut(s[i+3:], "?")
	host, path, _ := strings.Cut(rest, "/")
	var out []string
	if at := strings.LastIndex(host, "@"); at >= 0 {
		user, password, both := strings.Cut(host[:at], ":")
		if !both {
			password = user
		}
		out = append(out, host[:at], password)
	}
	for _, part := range strings.Split(path, "/") {
		if opaque(part) {
			out = append(out, part)
		}
	}
	for _, pair := range strings.Split(query, "&") {
		if _, value, _ := strings.Cut(pair, "="); value != "" {
			out = append(out, value)
		}
	}
	for _, t := range out { // as it is written, and as it is meant
		if clear, err := url.PathUnescape(t); err == nil && clear != t {
			out = append(out, clear)
		}
	}
	return out
}
