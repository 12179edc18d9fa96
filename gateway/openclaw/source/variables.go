package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/channels/pattern"
	"parley/gateway/configfile"
	"parley/gateway/openclaw/jsontree"
)

// variableName is what OpenClaw takes for a variable in ${…}: capital letters only.
var variableName = pattern.New(`^[A-Z_][A-Z0-9_]*$`)

// reference finds $${NAME}, which is a literal ${NAME}, and ${NAME}.
var reference = pattern.New(`\$?\$\{[A-Z_][A-Z0-9_]*\}`)

// Variables resolves the variables of a configuration, and moves its secrets into variables. It owns every value that the folder has.
type Variables struct {
	folder    Folder
	config    string                     // name of the configuration file
	moved     map[string]channels.Secret // secrets of the configuration, by the variable that stands for them now
	file      map[string]string          // .env
	block     map[string]string          // the env block
	profiles  map[string]string          // keys of model providers, by their variable
	wanted    map[string]string          // variables without a value: where OpenClaw took it from
	used      map[string]bool            // variables whose value is in the tree
	providers map[string]any             // secrets.providers
}

func newVariables(f Folder, config string) *Variables {
	return &Variables{folder: f, config: config, moved: map[string]channels.Secret{}, file: map[string]string{}, block: map[string]string{}, profiles: map[string]string{}, wanted: map[string]string{}, used: map[string]bool{}}
}

// variable is one value that the configuration takes from its environment.
type variable struct {
	Value  channels.Secret // "" if unknown
	Origin string          // place of the value, or where OpenClaw took it from
	Ours   bool            // the value comes from the folder, not from the environment of this process
}

// lookup returns what is known of a variable. The environment wins over .env, that over the env block, and that over stored keys of providers.
//
// source: docs.openclaw.ai/help/environment, "Precedence"
func (s *Variables) lookup(name string) variable {
	if v, ok := s.moved[name]; ok {
		return variable{Value: v, Origin: s.config, Ours: true}
	}
	if v := s.folder.Getenv(name); v != "" {
		return variable{Value: channels.NewSecret(v), Origin: "the environment"}
	}
	for _, from := range []struct {
		origin string
		values map[string]string
	}{{configfile.EnvName, s.file}, {"env", s.block}, {"the keys of model providers", s.profiles}} {
		if v := from.values[name]; v != "" {
			return variable{Value: channels.NewSecret(v), Origin: from.origin, Ours: true}
		}
	}
	if name == "OPENCLAW_STATE_DIR" || name == "CLAWDBOT_STATE_DIR" {
		return variable{Value: channels.NewSecret(absolute(s.folder.Root.Name())), Origin: "the state folder"}
	}
	if other, ok := aliases[name]; ok {
		return s.lookup(other)
	}
	return variable{Origin: s.wanted[name]}
}

// aliases are second names under which OpenClaw looks for the key of a provider.
var aliases = map[string]string{"GEMINI_API_KEY": "GOOGLE_API_KEY", "ZAI_API_KEY": "Z_AI_API_KEY"}

// Getenv returns the value of a variable, "" if it is unknown.
func (s *Variables) Getenv(name string) string { return s.lookup(name).Value.Reveal() }

// inConfig finds ${NAME} and ${NAME:-default} in a configuration of parley.
var inConfig = pattern.New(`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}\n]*)?\}`)

// Secrets returns the values from the folder that a configuration of parley needs, and the env block, which OpenClaw set for everything it ran.
// It reports each variable without a value.
func (s *Variables) Secrets(config []byte) map[string]channels.Secret {
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
		switch v := s.lookup(name); {
		case v.Value.Reveal() == "":
			s.folder.Report.Need("variable "+name, strings.TrimSuffix("no value found: "+v.Origin, ": "))
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
var secretText = pattern.New(`\b(sk-|gh[opusr]_|github_pat_|glpat-|xox[abeprs]-|xapp-|AKIA|AIza|[0-9]{8,10}:AA)[A-Za-z0-9_-]{10,}|\b(?i:bearer|basic) [A-Za-z0-9._~+/=-]{16,}`)

// Redact replaces the secrets of the folder in a text, and keys and tokens of a known form, by [secret].
func (s *Variables) Redact(text string) string {
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

// collect reads .env, the env block and the stored keys. The block leaves the tree.
func (s *Variables) collect(tree map[string]any) {
	s.providers = jsontree.Object(jsontree.Object(tree["secrets"])["providers"])
	if text, err := s.folder.open(configfile.EnvName); err == nil {
		for _, line := range strings.Split(string(text), "\n") { // one broken line does not take the others away
			vars, _ := configfile.ParseEnv(configfile.EnvName, []byte(line)) // the error might repeat a secret
			maps.Copy(s.file, vars)
		}
	}
	block := jsontree.Object(tree["env"])
	if tree["env"] != nil && block == nil {
		s.folder.Report.Leave("env", "it is not an object")
	}
	for _, at := range []string{"env.vars", "env"} {
		vars := block
		if at != "env" {
			vars = jsontree.Object(block["vars"])
		}
		for _, name := range slices.Sorted(maps.Keys(vars)) {
			value, ok := vars[name].(string)
			_, twice := s.block[name]
			switch what := join(at, name); {
			case at == "env" && name == "vars", twice, value == "${"+name+"}":
			case !ok || value == "" || !pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name) || !isWritable(name, channels.NewSecret(value)) || strings.Contains(value, "${"):
				s.folder.Report.Leave(what, "put the variables into the file "+configfile.EnvName+" beside the configuration")
			default:
				s.block[name] = value
				s.folder.Report.Differ(what, "it is in the file "+configfile.EnvName+" beside the configuration")
			}
		}
	}
	delete(tree, "env")
	(&keyReader{Variables: s, order: jsontree.Object(jsontree.Object(tree["auth"])["order"])}).all(DefaultAgent(tree))
}

// literal writes a text as a configuration of parley has it.
func literal(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// substitute fills in the variables of a text. A variable stays when its value is unknown, and when it holds a secret.
//
// source: openclaw/openclaw src/config/env-substitution.test.ts
func (s *Variables) substitute(text string, secret bool) string {
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
