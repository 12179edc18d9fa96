package source

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/configfile"
)

// variableName is what OpenClaw takes for a variable in ${…}: capital letters only.
var variableName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]*$`)

// reference finds $${NAME}, which is a literal ${NAME}, and ${NAME}.
var reference = regexp.MustCompile(`\$?\$\{[A-Z_][A-Z0-9_]*\}`)

// Variable returns what is known of a variable. The environment wins over .env, that over the env block, and that over stored keys of providers.
//
// source: docs.openclaw.ai/help/environment, "Precedence"
func (s *Source) Variable(name string) Variable {
	if v, ok := s.moved[name]; ok {
		return Variable{Value: v, Origin: s.Name, Ours: true}
	}
	if v := s.folder.Getenv(name); v != "" {
		return Variable{Value: channels.NewSecret(v), Origin: "the environment"}
	}
	for _, from := range []struct {
		origin string
		values map[string]string
	}{{configfile.EnvName, s.file}, {"env", s.block}, {"the keys of model providers", s.profiles}} {
		if v := from.values[name]; v != "" {
			return Variable{Value: channels.NewSecret(v), Origin: from.origin, Ours: true}
		}
	}
	if name == "OPENCLAW_STATE_DIR" || name == "CLAWDBOT_STATE_DIR" {
		return Variable{Value: channels.NewSecret(absolute(s.folder.Root.Name())), Origin: "the state folder"}
	}
	if other, ok := aliases[name]; ok {
		return s.Variable(other)
	}
	if why, ok := s.wanted[name]; ok {
		return Variable{Origin: why}
	}
	return Variable{Origin: "set it in the environment, or in the file " + configfile.EnvName + " beside the configuration"}
}

// aliases are second names under which OpenClaw looks for the key of a provider.
var aliases = map[string]string{"GEMINI_API_KEY": "GOOGLE_API_KEY", "ZAI_API_KEY": "Z_AI_API_KEY"}

// Getenv returns the value of a variable, "" if it is unknown.
func (s *Source) Getenv(name string) string { return s.Variable(name).Value.Reveal() }

// inConfig finds ${NAME} and ${NAME:-default} in a configuration of parley.
var inConfig = regexp.MustCompile(`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}\n]*)?\}`)

// Secrets returns the values from the folder that a configuration of parley needs, and the env block, which OpenClaw set for everything it ran.
// It reports each variable without a value.
func (s *Source) Secrets(config []byte) map[string]channels.Secret {
	out := map[string]channels.Secret{}
	var references []string
	for _, m := range inConfig.FindAllSubmatch(config, -1) {
		if len(m[2]) == 0 && !strings.HasPrefix(string(m[0]), "$$") {
			references = append(references, string(m[1]))
		}
	}
	for name, v := range s.block {
		if value := channels.NewSecret(cmp.Or(s.file[name], v)); isWritable(name, value) {
			out[name] = value
		}
	}
	for _, name := range references {
		switch v := s.Variable(name); {
		case v.Value.Reveal() == "":
			s.folder.Report.Need("variable "+name, v.Origin)
		case v.Ours:
			if isWritable(name, v.Value) {
				out[name] = v.Value
			} else {
				s.folder.Report.Need("variable "+name, "set it in the environment: its value has several lines or both kinds of quotes, which the file "+configfile.EnvName+" cannot hold")
			}
		}
	}
	var unused []string
	for name := range s.file {
		if _, ok := out[name]; !ok && !slices.Contains(references, name) && !s.used[name] {
			unused = append(unused, name)
		}
	}
	if slices.Sort(unused); len(unused) > 0 {
		s.folder.Report.Leave(fmt.Sprintf("%s: %s", configfile.EnvName, strings.Join(unused, ", ")), "no setting uses them: copy the lines that you still need")
	}
	return out
}

// secretText matches texts that are keys or tokens by their form.
var secretText = regexp.MustCompile(`\b(sk-|gh[opusr]_|github_pat_|glpat-|xox[abeprs]-|xapp-|AKIA|AIza|[0-9]{8,10}:AA)[A-Za-z0-9_-]{10,}|\b(?i:bearer|basic) [A-Za-z0-9._~+/=-]{16,}`)

// Redact replaces the secrets of the folder in a text, and keys and tokens of a known form, by [secret].
func (s *Source) Redact(text string) string {
	var all []channels.Secret
	for _, v := range s.moved {
		all = append(all, v)
	}
	for _, values := range []map[string]string{s.file, s.block, s.profiles} {
		for name, v := range values {
			if secretVariable.MatchString(name) {
				all = append(all, channels.NewSecret(v))
			}
		}
	}
	return secretText.ReplaceAllString(channels.NewSecretSet(all...).Replace(text), "[secret]")
}

// isWritable reports whether the file of variables can hold a value.
func isWritable(name string, value channels.Secret) bool {
	_, ok := configfile.EnvLine(name, value)
	return ok
}

// variables reads .env, the env block and the stored keys. The block leaves the tree.
func (s *Source) variables(tree map[string]any) {
	if text, err := s.open(configfile.EnvName); err == nil {
		for _, line := range strings.Split(string(text), "\n") { // one broken line does not take the others away
			vars, _ := configfile.ParseEnv(configfile.EnvName, []byte(line)) // the error might repeat a secret
			maps.Copy(s.file, vars)
		}
	}
	block := object(tree["env"])
	if tree["env"] != nil && block == nil {
		s.folder.Report.Leave("env", "it is not an object")
	}
	for _, at := range []string{"env.vars", "env"} {
		vars := block
		if at != "env" {
			vars = object(block["vars"])
		}
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			value, ok := vars[name].(string)
			_, twice := s.block[name]
			switch what := join(at, name); {
			case at == "env" && name == "vars", twice, value == "${"+name+"}":
			case !ok || value == "" || !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name) || !isWritable(name, channels.NewSecret(value)) || strings.Contains(value, "${"):
				s.folder.Report.Leave(what, "put the variables into the file "+configfile.EnvName+" beside the configuration")
			default:
				s.block[name] = value
				s.folder.Report.Differ(what, "it is in the file "+configfile.EnvName+" beside the configuration")
			}
		}
	}
	delete(tree, "env")
	s.storedKeys(tree)
}

// keyVariable returns the name of the variable that holds the key of a model provider.
func keyVariable(provider string) string {
	if provider = strings.ToLower(provider); provider == "google" {
		return "GEMINI_API_KEY"
	}
	return envName(provider, "API_KEY")
}

// envName makes the name of a variable of the parts of a place.
func envName(parts ...string) string {
	return configfile.VariableName(parts...)
}

// store is OpenClaw's file of keys: by profile, in its first form by provider.
type store struct {
	Profiles map[string]profile `json:"profiles"`
}

type profile struct {
	Type     string `json:"type"`
	Mode     string `json:"mode"`
	Provider string `json:"provider"`
	Key      string `json:"key"`
	KeyRef   any    `json:"keyRef"`
}

// storedKeys reads the keys that OpenClaw stored for model providers: files and databases of all agents, the default agent's first.
func (s *Source) storedKeys(tree map[string]any) {
	var agents []string
	if list, err := fs.ReadDir(s.folder.Root.FS(), "agents"); err == nil {
		for _, a := range list {
			agents = append(agents, a.Name())
		}
	}
	first := DefaultAgent(tree)
	slices.SortStableFunc(agents, func(a, b string) int {
		return cmpBool(b == first, a == first)
	})
	for _, a := range agents {
		dir := path.Join("agents", a, "agent")
		s.rows(path.Join(dir, "openclaw-agent.sqlite"), "auth_profile_store", "store_json", "", tree)
		s.keysOf(path.Join(dir, "auth-profiles.json"), tree)
		s.keysOf(path.Join(dir, "auth.json"), tree)
	}
	s.rows("state/openclaw.sqlite", "config_machine_state", "value_json", "authProfiles.store", tree)
	s.rows("state/openclaw.sqlite", "auth_profile_stores", "store_json", "", tree)
	s.keysOf("agent/auth-profiles.json", tree)
	s.keysOf("agent/auth.json", tree)
}

func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// rows reads stored keys from a table. key selects the row of a table of several things.
func (s *Source) rows(file, table, column, key string, tree map[string]any) {
	if s.folder.Tables == nil {
		return
	}
	columns := []string{column}
	if key != "" {
		columns = append(columns, "state_key")
	}
	rows, err := s.folder.Tables.Rows(file, table, columns...)
	if err != nil {
		s.folder.Report.Leave(file+": "+table, fmt.Sprintf("the stored keys cannot be read: %v", err))
	}
	for _, r := range rows {
		if len(r) == len(columns) && (key == "" || r[1] == key) {
			s.takeKeys(file+": "+table, []byte(r[0]), tree)
		}
	}
}

func (s *Source) keysOf(file string, tree map[string]any) {
	text, err := s.open(file)
	if err != nil {
		return // most agents have none
	}
	s.takeKeys(file, text, tree)
}

// takeKeys takes the API keys of a store. Accounts of subscriptions stay out: they belong to OpenClaw's own sign-in.
func (s *Source) takeKeys(what string, stored []byte, tree map[string]any) {
	var all store
	err := json.Unmarshal(stored, &all)
	if all.Profiles == nil && err == nil {
		err = json.Unmarshal(stored, &all.Profiles)
	}
	if err != nil {
		s.folder.Report.Leave(what, "the stored keys cannot be read: set the key of each model provider in the environment")
		return
	}
	names := slices.Sorted(maps.Keys(all.Profiles))
	for _, provider := range slices.Sorted(maps.Keys(object(object(tree["auth"])["order"]))) {
		order, _ := object(object(tree["auth"])["order"])[provider].([]any)
		for _, v := range slices.Backward(order) { // the preferred ones first
			if i := slices.Index(names, text(v)); i >= 0 {
				names = slices.Insert(slices.Delete(names, i, i+1), 0, text(v))
			}
		}
	}
	for _, name := range names {
		p := all.Profiles[name]
		if p.Provider == "" {
			p.Provider, _, _ = strings.Cut(name, ":")
		}
		variable := keyVariable(p.Provider)
		if kind := p.Type + p.Mode; kind != "api_key" && kind != "" {
			s.folder.Report.Leave(what+": "+name, "it is an account of a subscription: set an API key in "+variable)
			continue
		}
		key := strings.TrimSpace(p.Key)
		if ref := object(p.KeyRef); ref != nil {
			key = s.deref(ref, tree)
		}
		if m := variableOf(key); m != "" {
			key = s.Getenv(m)
		}
		if s.profiles[variable] == "" && key != "" {
			s.profiles[variable] = key
		}
	}
}

// literal writes a text as a configuration of parley has it.
func literal(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// substitute fills in the variables of a text. A variable stays when its value is unknown, and when it holds a secret.
//
// source: openclaw/openclaw src/config/env-substitution.test.ts
func (s *Source) substitute(text string, secret bool) string {
	var b strings.Builder
	for {
		at := reference.FindStringIndex(text)
		if at == nil {
			b.WriteString(literal(text))
			return b.String()
		}
		b.WriteString(literal(text[:at[0]]))
		ref := text[at[0]:at[1]]
		text = text[at[1]:]
		if strings.HasPrefix(ref, "$$") {
			b.WriteString(ref)
			continue
		}
		value := ""
		if name := ref[2 : len(ref)-1]; !secret && !secretVariable.MatchString(name) {
			value = s.Getenv(name)
		}
		if value == "" || strings.HasSuffix(value, "$") { // a $ would turn a reference behind it into a text
			b.WriteString(ref)
			continue
		}
		s.used[ref[2:len(ref)-1]] = true
		b.WriteString(literal(value))
	}
}
