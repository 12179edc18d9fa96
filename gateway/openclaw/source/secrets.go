package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"

	"parley/channels"
	"parley/channels/pattern"
	"parley/gateway/configfile"
	"parley/gateway/openclaw/jsontree"
)

var (
	// secretKey matches keys whose text is a secret anywhere in the configuration.
	secretKey = pattern.New(`(?i)(token|secret|password|passphrase|api_?key|private_?key|credentials?)$`)

	// secretName matches names of headers, and of variables for a program, whose value is a secret.
	secretName = pattern.New(`(?i)key|token|secret|auth|cookie|cred|passw|passphrase`)

	// secretVariable matches names of variables whose value is a secret, wherever it is used.
	secretVariable = pattern.New(`(?i)(^|_)(api_?keys?|keys?|tokens?|secrets?|passw(or)?d|pass|passphrase|credentials?|creds?|cookie|pat|auth)(_|$)|(apikey|token|secret|password)$`)

	// secretFlag matches an argument of a command before or in which a secret stands.
	secretFlag = pattern.New(`(?i)^--?[a-z0-9_-]*(key|token|secret|password)[a-z0-9_-]*(=|$)`)

	// shortVariable matches $NAME, which OpenClaw takes for ${NAME} in the place of a secret.
	shortVariable = pattern.New(`^\$[A-Z][A-Z0-9_]*$`)

	// wholeVariable matches ${NAME}, and the forms ${env:NAME} and ${NAME:-default} that people write.
	wholeVariable = pattern.New(`^\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}$`)

	// bareVariable matches the name of a variable in the place of a provider's key, as OpenClaw's own setup writes it.
	bareVariable = pattern.New(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`)

	// notSecret matches texts that stand where a secret was or will be.
	notSecret = pattern.New(`(?i)^(<.*>|\*+|x{3,}|\.{3,}|changeme|redacted|__openclaw_redacted__|secretref-managed|your[-_ ].*)$`)

	// markers matches texts that OpenClaw writes for a provider that needs no key or has an account instead.
	markers = pattern.New(`(?i)^(ollama-local|custom-local|lmstudio-local|codex-app-server|gcp-vertex-credentials|secretref-managed|oauth:.*|[a-z]+-oauth)$`)

	// dummies matches keys that local servers are given because a client asks for one.
	dummies = pattern.New(`(?i)^(ollama|lm-?studio|vllm|local|none|no-?key|not-?needed|not-?required|dummy|empty|placeholder|sk-no-key-required|sk-local|n/?a|x+)$`)
)

// fill fills in variables below v and moves secrets out of it.
//
// source: openclaw/openclaw docs/reference/secretref-credential-surface.md
func (s *Variables) fill(v any, place []string) any {
	switch v := v.(type) {
	case map[string]any:
		if isReference(v) {
			return s.referenced(v, place)
		}
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if x := s.fill(v[k], append(slices.Clone(place), k)); x != nil || v[k] == nil {
				out[k] = x
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			at := append(slices.Clone(place), fmt.Sprintf("[%d]", i))
			arg, isText := x.(string)
			switch before := ""; {
			case isText && len(place) > 0 && place[len(place)-1] == "args":
				if i > 0 {
					before, _ = v[i-1].(string)
				}
				out[i] = s.argument(before, arg, at)
			default:
				out[i] = s.fill(x, at)
			}
		}
		return out
	case string:
		if isSecretPlace(place) {
			return s.secret(v, place)
		}
		return s.substitute(v, false)
	}
	return v
}

func isSecretPlace(place []string) bool {
	if len(place) == 0 {
		return false
	}
	last := place[len(place)-1]
	if len(place) > 1 && slices.Contains([]string{"headers", "env"}, place[len(place)-2]) {
		return secretName.MatchString(last)
	}
	return secretKey.MatchString(last)
}

// argument handles one argument of a command: --token VALUE and --token=VALUE.
func (s *Variables) argument(before, arg string, place []string) any {
	flag, value, ok := strings.Cut(arg, "=")
	switch {
	case ok && secretFlag.MatchString(flag+"="):
		return flag + "=" + fmt.Sprint(s.secret(value, place))
	case secretFlag.MatchString(before) && !strings.Contains(before, "=") && !strings.HasPrefix(arg, "-"):
		return s.secret(arg, place)
	}
	return s.substitute(arg, false)
}

// isReference reports whether an object is a SecretRef.
func isReference(v map[string]any) bool {
	for k := range v {
		if k != "source" && k != "provider" && k != "id" {
			return false
		}
	}
	return slices.Contains([]string{"env", "file", "exec", "store"}, jsontree.Text(v["source"])) && jsontree.Text(v["id"]) != ""
}

// referenced writes a SecretRef as a variable.
func (s *Variables) referenced(ref map[string]any, place []string) any {
	if id := jsontree.Text(ref["id"]); ref["source"] == "env" && variableName.MatchString(id) {
		return "${" + id + "}"
	}
	name := nameFor(place)
	if value := s.deref(ref); value != "" {
		return s.move(name, value)
	}
	s.want(name, originOf(ref))
	return "${" + name + "}"
}

// want notes where OpenClaw took a secret from that is not in the folder.
func (s *Variables) want(name, origin string) {
	s.wanted[name] = origin
}

func originOf(ref map[string]any) string {
	provider := jsontree.Text(ref["provider"])
	switch ref["source"] {
	case "file":
		return "OpenClaw read it from the file of secrets.providers." + provider
	case "exec":
		return "OpenClaw asked the command of secrets.providers." + provider
	case "store":
		return "OpenClaw kept it in its secret store as " + jsontree.Text(ref["id"])
	}
	return "OpenClaw took it from the environment"
}

// maxSecretFile is OpenClaw's bound for a file of secrets, in bytes.
const maxSecretFile = 1 << 20

// deref returns the value of a SecretRef, "" if it is not in the folder or the environment. Commands are not run.
func (s *Variables) deref(ref map[string]any) string {
	id := jsontree.Text(ref["id"])
	switch ref["source"] {
	case "env":
		return s.Getenv(id)
	case "file":
		p := jsontree.Object(s.providers[jsontree.Text(ref["provider"])])
		name, ok := s.folder.inside(jsontree.Text(p["path"]), "")
		if !ok {
			return ""
		}
		b, err := s.folder.open(name)
		if err != nil || len(b) > maxSecretFile {
			return ""
		}
		if jsontree.Text(p["mode"]) == "singleValue" {
			return strings.TrimSpace(string(b))
		}
		var v any
		if json.Unmarshal(b, &v) != nil {
			return ""
		}
		for _, part := range strings.Split(strings.TrimPrefix(id, "/"), "/") { // RFC 6901
			v = jsontree.Object(v)[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
		}
		return jsontree.Text(v)
	}
	return ""
}

// variableOf returns the variable that a text in the place of a secret stands for, "" for a secret itself.
func variableOf(s string) string {
	if name, ok := strings.CutPrefix(s, "secretref-env:"); ok && variableName.MatchString(name) {
		return name
	}
	if m := wholeVariable.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	if shortVariable.MatchString(s) {
		return s[1:]
	}
	return ""
}

// variableAt is variableOf for a place: keys of providers may be the bare name of a variable, others only if that variable is known.
func (s *Variables) variableAt(value string, place []string) string {
	name := variableOf(value)
	if name == "" && bareVariable.MatchString(value) && (len(place) > 1 && place[0] == "models" && place[1] == "providers" || s.Getenv(value) != "") {
		return value
	}
	return name
}

// secret writes what stands in the place of a secret as a variable. nil means that the place stays empty.
func (s *Variables) secret(value string, place []string) any {
	value = strings.TrimSpace(value)
	name := s.variableAt(value, place)
	switch {
	case value == "":
		return ""
	case markers.MatchString(value) && place[len(place)-1] == "apiKey":
		return nil
	case notSecret.MatchString(value):
		name = nameFor(place)
		s.want(name, "OpenClaw's configuration has a placeholder there")
		return "${" + name + "}"
	case name != "":
		return "${" + name + "}"
	}
	if refs := reference.FindAllString(value, -1); len(refs) > 0 {
		around := strings.TrimSpace(reference.ReplaceAllString(value, ""))
		if pattern.New(`(?i)^(bearer|basic|token|bot|apikey)?:?$`).MatchString(around) || slices.ContainsFunc(refs, func(r string) bool {
			return !strings.HasPrefix(r, "$$") && s.Getenv(r[2:len(r)-1]) == ""
		}) {
			return s.substitute(value, true)
		}
		value = reference.ReplaceAllStringFunc(value, func(r string) string {
			if strings.HasPrefix(r, "$$") {
				return r[1:]
			}
			return s.Getenv(r[2 : len(r)-1])
		})
	}
	return s.move(nameFor(place), value)
}

// move keeps a secret under a variable of which nothing else is known, and returns the reference to it.
func (s *Variables) move(name, value string) string {
	free := name
	for i := 2; ; i++ {
		if have := s.lookup(free).Value.Reveal(); have == "" || have == value {
			break
		}
		free = fmt.Sprintf("%s_%d", name, i)
	}
	s.moved[free] = channels.NewSecret(value)
	return "${" + free + "}"
}

// nameFor makes the name of the variable for a place: TELEGRAM_WORK_TOKEN, OPENAI_API_KEY, or of the whole place.
func nameFor(place []string) string {
	parts := []string{}
	for _, p := range place {
		if !strings.HasPrefix(p, "[") {
			parts = append(parts, p)
		}
	}
	n := len(parts)
	if n == 0 {
		return configfile.VariableName()
	}
	key := parts[n-1]
	if !strings.Contains(key, "_") {
		parts[n-1] = pattern.New(`([a-z])([A-Z])`).ReplaceAllString(key, "${1}_$2")
	}
	switch {
	case n > 2 && parts[0] == "channels":
		if key == "botToken" {
			parts[n-1] = "token"
		}
		return configfile.VariableName(slices.DeleteFunc(parts[1:], func(p string) bool { return p == "accounts" })...)
	case n > 3 && parts[0] == "models" && parts[1] == "providers" && key == "apiKey":
		return keyVariable(parts[2])
	case n > 3 && parts[0] == "models" && parts[1] == "providers":
		return configfile.VariableName(parts[2], parts[n-1])
	case n > 4 && parts[0] == "mcp" && parts[n-2] == "env":
		return configfile.VariableName(parts[n-1])
	case n > 3 && parts[0] == "mcp":
		return configfile.VariableName(slices.DeleteFunc(parts[2:], func(p string) bool { return p == "headers" })...)
	}
	return configfile.VariableName(parts...)
}

// credentials brings secrets that stand elsewhere to their place: files of tokens, and tokens that OpenClaw took from the environment. A local
// server without a real key gets the key "".
//
// source: openclaw/openclaw docs/channels/telegram.md (tokenFile, TELEGRAM_BOT_TOKEN), docs/channels/discord.md, docs/providers/ollama.md
func (s *Variables) credentials(tree map[string]any) {
	for kind, c := range jsontree.Object(tree["channels"]) {
		section := jsontree.Object(c)
		accounts := jsontree.Object(section["accounts"])
		s.tokenFile(kind, section, []string{"channels", kind})
		for id, a := range accounts {
			s.tokenFile(kind, jsontree.Object(a), []string{"channels", kind, "accounts", id})
		}
		for _, t := range []struct{ kind, key, name string }{
			{"telegram", "botToken", "TELEGRAM_BOT_TOKEN"}, {"discord", "token", "DISCORD_BOT_TOKEN"}, {"slack", "botToken", "SLACK_BOT_TOKEN"}, {"slack", "appToken", "SLACK_APP_TOKEN"},
		} {
			at := section
			if accounts != nil {
				at = jsontree.Object(accounts["default"])
			}
			if kind == t.kind && at != nil && empty(at[t.key]) && empty(section[t.key]) && section["enabled"] != false && at["enabled"] != false {
				at[t.key] = "${" + t.name + "}"
			}
		}
	}
	for name, p := range jsontree.Object(jsontree.Object(tree["models"])["providers"]) {
		set := jsontree.Object(p)
		key, isText := set["apiKey"].(string)
		key = strings.TrimSpace(key)
		base := s.substitute(jsontree.Text(set["baseUrl"]), false)
		if v := s.variableAt(key, []string{"models", "providers"}); set != nil && (isText || set["apiKey"] == nil) && (isLocal(base) || base == "" && strings.EqualFold(name, "ollama")) &&
			(key == "" || markers.MatchString(key) || dummies.MatchString(key) || v != "" && (s.Getenv(v) == "" || markers.MatchString(s.Getenv(v)) || dummies.MatchString(s.Getenv(v)))) {
			set["apiKey"] = ""
		}
	}
}

func empty(v any) bool { return v == nil || v == "" }

// tokenFile replaces the name of a file by the token in it.
func (s *Variables) tokenFile(kind string, section map[string]any, place []string) {
	name := jsontree.Text(section["tokenFile"])
	if name == "" {
		return
	}
	key := "token"
	if kind != "discord" {
		key = "botToken"
	}
	delete(section, "tokenFile")
	variable := nameFor(append(slices.Clone(place), key))
	if file, ok := s.folder.inside(name, ""); ok {
		if b, err := s.folder.open(file); err == nil && len(b) <= maxSecretFile && len(b) > 0 {
			section[key] = s.move(variable, strings.TrimSpace(string(b))) // the file wins over a token beside it
			return
		}
	}
	if !empty(section[key]) {
		return
	}
	s.want(variable, fmt.Sprintf("OpenClaw read it from the file %s (%s)", path.Base(strings.ReplaceAll(name, `\`, "/")), strings.Join(append(place, "tokenFile"), ".")))
	section[key] = "${" + variable + "}"
}

// isLocal reports whether an address is on this machine or in a private network: servers there usually need no key.
func isLocal(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if ip := net.ParseIP(host); ip != nil {
		_, shared, _ := net.ParseCIDR("100.64.0.0/10") // Tailscale
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || shared.Contains(ip)
	}
	return host == "localhost" || host == "host.docker.internal" || !strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") ||
		strings.HasSuffix(host, ".lan") || strings.HasSuffix(host, ".internal")
}
