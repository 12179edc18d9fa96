package convert

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/configfile"
)

var variable = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)

var notInNames = regexp.MustCompile(`[^A-Z0-9]+`)

// variableFor makes the name of a variable.
func variableFor(parts ...string) string {
	name := notInNames.ReplaceAllString(strings.ToUpper(strings.Join(parts, "_")), "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// secret moves a secret into the environment, whichever way it is written: as it is, as a variable, or as a reference to where it is kept. A
// reference that cannot be followed becomes a variable that a person must set.
func (c *conversion) secret(what, name string, v any) string {
	switch v := v.(type) {
	case string:
		switch {
		case strings.Contains(v, "${"):
			return v
		case strings.TrimSpace(v) != "":
			c.secrets[name] = channels.NewSecret(strings.TrimSpace(v))
			return "${" + name + "}"
		}
	case map[string]any:
		if id := text(v["id"]); v["source"] == "env" && variable.MatchString("${"+id+"}") {
			return "${" + id + "}"
		}
	}
	if c.valueOf(name) == "" {
		c.Need(what, fmt.Sprintf("its value is kept where parley does not look: set the variable %s", name))
	}
	return "${" + name + "}"
}

// environment takes variables over into the file beside the configuration; a name that a secret of the configuration has stays that one's.
func (c *conversion) environment(what string, v any) {
	vars, _ := v.(map[string]any)
	if v != nil && vars == nil {
		c.Leave(what, hint(what))
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		place := what + "." + name
		text, isText := vars[name].(string)
		_, taken := c.secrets[name]
		_, ok := configfile.EnvLine(name, channels.NewSecret(text))
		switch {
		case name == "vars" && what == "env":
			c.environment(place, vars[name])
		case !isText || text == "" || taken || !ok || !variable.MatchString("${"+name+"}") || strings.Contains(text, "${"):
			c.Leave(place, hint(place))
		default:
			c.secrets[name] = channels.NewSecret(text)
			c.Differ(place, "it is in the file "+configfile.EnvName+" beside the configuration")
		}
	}
}

// valueOf is what a variable will be where the configuration is used.
func (c *conversion) valueOf(name string) string {
	if s, ok := c.secrets[name]; ok {
		return s.Reveal()
	}
	return c.in.Getenv(name)
}

// links carries over the ids of one person on several channels. An entry that names nobody here is left out.
func (c *conversion) links(v any) any {
	var out []any
	for _, e := range entries(v) {
		entry := strings.TrimSpace(fmt.Sprint(e))
		word, rest, _ := strings.Cut(entry, ":")
		k := channels.Kind(strings.ToLower(word))
		if id, ok := c.ids.Person(k, rest); ok && id != everybody && !strings.HasPrefix(id, "@") {
			out = append(out, string(k)+":"+id)
		} else {
			c.Leave("session.identityLinks: "+entry, "this names no person of a channel here")
		}
	}
	return out
}
