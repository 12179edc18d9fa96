package openclaw

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/configfile"
	"parley/gateway/openclaw/source"
)

// settle makes parley's configuration of OpenClaw's, if there is one.
func (x *reader) settle(ctx context.Context, table config.Table, getenv func(string) string) (found bool, err error) {
	src := source.Load(source.Folder{Root: x.root, Getenv: getenv, Report: &x.Report, Tables: tables{ctx, x.databases}})
	x.jobsAndNotes(src, table)
	x.port = gatewayPort(src.Tree)
	if src.Tree == nil {
		return src.Name != "", nil
	}
	c := &conversion{reader: x, out: map[string]any{}, models: readModels(src.Tree), getenv: src.Getenv}
	c.all(src.Tree)
	if err := c.finish(table); err != nil {
		return true, err
	}
	maps.Copy(x.Secrets, src.Secrets(x.Config))
	return true, nil
}

// conversion is one configuration under way.
type conversion struct {
	*reader
	out    map[string]any
	models models
	getenv func(string) string
}

func (c *conversion) all(top map[string]any) {
	c.Secrets = map[string]channels.Secret{}
	for _, k := range slices.Sorted(maps.Keys(top)) {
		m, _ := top[k].(map[string]any)
		switch k {
		case "channels":
			for _, kind := range slices.Sorted(maps.Keys(m)) {
				c.channel(kind, m[kind])
			}
		case "bindings":
			c.bindings(top[k])
		case "agents":
			rest := maps.Clone(m)
			delete(rest, "list")
			delete(rest, "entries")
			c.agents(m)
			c.walk(rules, []string{k}, rest, nil, "")
		case "models", "env":
		case "meta", "wizard", "$schema":
		default:
			c.walk(rules, []string{k}, top[k], nil, "")
		}
	}
	c.providers(top["models"])
	c.environment("env", top["env"])
	if s, ok := top["session"].(map[string]any); ok {
		if k, ok := s["mainKey"].(string); ok && k != "" {
			c.mainKey = strings.ToLower(strings.TrimSpace(k))
		}
		c.global = s["scope"] == "global"
		if _, ok := s["idleMinutes"]; ok && s["reset"] == nil {
			put(c.out, []string{"session", "reset", "mode"}, "idle")
		}
	}
}

// walk carries over what the rules know, below a place of the new configuration; prefix is what the place is called in the report.
func (c *conversion) walk(rs []rule, place []string, v any, below []string, prefix string) {
	what := prefix + strings.Join(place, ".")
	if c.defaults(what, v) {
		return
	}
	to, why, ok := match(rs, place)
	if m, deep := v.(map[string]any); deep && !ok && inside(rs, place) {
		if n := len(place); len(below) > 1 && (n == 2 && place[0] == "groups" || n == 4 && place[2] == "topics") {
			put(c.out, append(slices.Clone(below), place...), map[string]any{}) // that it is listed says something
		}
		for _, k := range slices.Sorted(maps.Keys(m)) {
			c.walk(rs, append(slices.Clone(place), k), m[k], below, prefix)
		}
		return
	}
	if !ok {
		c.Report.Leave(what, hint(what))
		return
	}
	to = append(slices.Clone(below), to...)
	put(c.out, to, c.value(to, v))
	if why != "" {
		c.Report.Differ(what, why)
	} else {
		c.Report.Carry(what, "")
	}
}

// value writes a value as parley has it: ids, secrets, words.
func (c *conversion) value(to []string, v any) any {
	last := to[len(to)-1]
	switch {
	case last == "token":
		return c.secret(to, v)
	case len(to) > 1 && to[0] == "channels" && (last == "allowFrom" || last == "groupAllowFrom"):
		return c.people(channels.Kind(to[1]), v)
	case last == "kind" && v == "dm":
		return "direct"
	case last == "rules":
		return rulesWords(v)
	}
	return v
}

// rulesWords renames the kind of chat that was called dm.
func rulesWords(v any) any {
	b, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	if json.Unmarshal(bytes.ReplaceAll(b, []byte(`"chatType":"dm"`), []byte(`"chatType":"direct"`)), &out) != nil {
		return v
	}
	return out
}

func (c *conversion) people(k channels.Kind, v any) any {
	list, ok := v.([]any)
	if !ok {
		return v
	}
	out := []any{}
	for _, p := range list {
		s := fmt.Sprint(p)
		if s != "*" {
			s = c.ids.person(k, s)
		}
		out = append(out, s)
	}
	return out
}

var variable = regexp.MustCompile(`^\$\{[A-Za-z_][A-Za-z0-9_]*\}$`)

// secret moves a secret into the environment. One that is there already stays.
func (c *conversion) secret(to []string, v any) any {
	s, ok := v.(string)
	if !ok || variable.MatchString(s) {
		return v
	}
	parts := []string{}
	for _, p := range to[1:] {
		if p != "accounts" {
			parts = append(parts, p)
		}
	}
	name := regexp.MustCompile(`[^A-Z0-9]+`).ReplaceAllString(strings.ToUpper(strings.Join(parts, "_")), "_")
	c.Secrets[name] = channels.NewSecret(s)
	return "${" + name + "}"
}

// environment takes variables over into the file beside the configuration; a name that a secret of the configuration has stays that one's.
func (c *conversion) environment(what string, v any) {
	vars, _ := v.(map[string]any)
	if v != nil && vars == nil {
		c.Report.Leave(what, hint(what))
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		place := what + "." + name
		text, isText := vars[name].(string)
		_, taken := c.Secrets[name]
		_, ok := configfile.EnvLine(name, channels.NewSecret(text))
		switch {
		case name == "vars" && what == "env":
			c.environment(place, vars[name])
		case !isText || text == "" || taken || !ok || !variable.MatchString("${"+name+"}") || strings.Contains(text, "${"):
			c.Report.Leave(place, hint(place))
		default:
			c.Secrets[name] = channels.NewSecret(text)
			c.Report.Differ(place, "it is in the file "+configfile.EnvName+" beside the configuration")
		}
	}
}

func (c *conversion) bindings(v any) {
	list, _ := v.([]any)
	var out []any
	for i, b := range list {
		m, _ := b.(map[string]any)
		raw, _ := m["agentId"].(string)
		fields, _ := m["match"].(map[string]any)
		what := fmt.Sprintf("bindings[%d]", i)
		kind, _ := fields["channel"].(string)
		if !c.ids.has(channels.Kind(strings.ToLower(kind))) {
			c.Report.Leave(what, fmt.Sprintf("parley has no channel %q", kind))
			continue
		}
		e := &conversion{reader: c.reader, out: map[string]any{}}
		for _, k := range slices.Sorted(maps.Keys(fields)) {
			e.walk(inMatch, []string{k}, fields[k], nil, what+".match.")
		}
		e.out["channel"] = strings.ToLower(kind)
		out = append(out, map[string]any{"agentId": string(agentID(raw)), "match": e.out})
	}
	if out != nil {
		put(c.out, []string{"bindings"}, out)
	}
}

// put sets a value at a place.
func put(m map[string]any, to []string, v any) {
	for _, k := range to[:len(to)-1] {
		next, ok := m[k].(map[string]any)
		if !ok {
			next = map[string]any{}
			m[k] = next
		}
		m = next
	}
	m[to[len(to)-1]] = v
}

// finish writes the configuration and has it checked as any other; what parley does not take is left out and reported.
func (c *conversion) finish(table config.Table) error {
	for range 200 {
		text, err := yaml.Marshal(scalars(c.out))
		if err != nil {
			return err
		}
		named := references(text)
		_, problems, err := config.Parse("config.yaml", text, table, func(name string) string {
			v := c.valueOf(name)
			if v == "" && slices.Contains(named, name) {
				return "0:unset" // it may be set where the host runs
			}
			return v
		})
		if err == nil {
			c.Needs = slices.DeleteFunc(named, func(name string) bool { return c.valueOf(name) != "" })
			c.Config = append([]byte("# Made from an OpenClaw configuration by parley import openclaw.\n"), text...)
			return nil
		}
		dropped := false
		for _, p := range problems {
			if p.Severity == config.SevereError && !dropped && drop(c.out, p.Key) {
				c.Report.Leave(p.Key, strings.TrimSpace("parley does not take it: "+p.Text+" "+brackets(p.Hint)))
				dropped = true
			}
		}
		if !dropped {
			return fmt.Errorf("what was made of the configuration is none: %w", err)
		}
	}
	return errors.New("too much of the configuration is wrong")
}

// valueOf is what a variable will be where the configuration is used.
func (c *conversion) valueOf(name string) string {
	if s, ok := c.Secrets[name]; ok {
		return s.Reveal()
	}
	return c.getenv(name)
}

var reference = regexp.MustCompile(`(^|[^$])\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// references are the variables without which a configuration cannot be read, each once.
func references(text []byte) (names []string) {
	for _, m := range reference.FindAllSubmatch(text, -1) {
		names = append(names, string(m[2]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func brackets(s string) string {
	if s == "" {
		return ""
	}
	return "(" + s + ")"
}

// scalars gives the values as YAML writes them: numbers as numbers.
func scalars(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = scalars(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = scalars(x)
		}
		return out
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	}
	return v
}

// drop takes away what stands at a place, as problems name it: channels.telegram.groups.-100.topics, bindings[0].match. It is false
// when nothing stands there. Names may have dots in them: the longest that fits is taken.
func drop(at any, place string) bool {
	switch v := at.(type) {
	case map[string]any:
		name := ""
		for k := range v {
			rest, ok := strings.CutPrefix(place, k)
			if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') && len(k) > len(name) {
				name = k
			}
		}
		if name == "" {
			return false
		}
		rest := strings.TrimPrefix(place[len(name):], ".")
		if rest == "" {
			delete(v, name)
			return true
		}
		if list, ok := v[name].([]any); ok {
			n, after, ok := index(rest)
			if ok && after == "" && n < len(list) {
				v[name] = slices.Delete(list, n, n+1)
				return true
			}
		}
		return drop(v[name], rest)
	case []any:
		n, after, ok := index(place)
		return ok && n < len(v) && drop(v[n], strings.TrimPrefix(after, "."))
	}
	return false
}

// index reads [n] at the beginning of a place.
func index(place string) (n int, rest string, ok bool) {
	number, rest, ok := strings.Cut(strings.TrimPrefix(place, "["), "]")
	n, err := strconv.Atoi(number)
	return n, rest, ok && err == nil && strings.HasPrefix(place, "[") && n >= 0
}
