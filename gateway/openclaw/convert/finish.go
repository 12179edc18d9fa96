package convert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"parley/channels"
	"parley/channels/pattern"
	"parley/gateway/config"
	"parley/gateway/openclaw/jsontree"
)

const head = "# Made from an OpenClaw configuration by parley import openclaw.\n"

// maxRounds bounds how often a configuration is checked again after something was closed.
const maxRounds = 300

// finisher closes or leaves out what parley does not take of the whole configuration.
type finisher struct {
	*output
	table    config.Table
	accounts accounts
}

// finish writes the configuration and has it checked as any other. What parley does not take is closed, or left out where nothing opens by that.
// unset has the variables that nothing sets, with values that the configuration takes. ok is false when nothing could be carried over.
func (c finisher) finish() (made []byte, unset map[string]string, ok bool) {
	tried := map[string]int{} // how many stand-ins of a variable did not fit
	for range maxRounds {
		text, err := yaml.Marshal(jsontree.Scalars(c.config))
		if err != nil {
			break
		}
		unset = map[string]string{}
		for n, name := range references(text) {
			switch {
			case c.getenv(name) != "":
			case tried[name] > 0:
				unset[name] = otherStands[tried[name]-1]
			default:
				unset[name] = stand(text, name, n)
			}
		}
		_, problems, err := config.Parse("config.yaml", text, c.table, func(name string) string { return cmp.Or(c.getenv(name), unset[name]) })
		if err == nil {
			return append([]byte(head), text...), unset, true
		}
		i := slices.IndexFunc(problems, func(p config.Problem) bool { return p.Severity == config.SevereError })
		if i < 0 {
			break
		}
		if name := c.unset(problems[i].Key); name != "" && tried[name] < len(otherStands) {
			tried[name]++
			continue
		}
		if !c.shut(problems[i].Key, problems[i].Text) {
			break
		}
	}
	c.Need("the configuration", "nothing of it could be carried over: create a configuration with parley init. The sessions are imported")
	return []byte(head), nil, false
}

// secretKey matches keys whose value is a secret.
var secretKey = pattern.New(`(?i)key|token|secret|auth|cookie|cred`)

// stand is the value of a variable that nothing sets, while the configuration is checked: of a secret a token, elsewhere an id.
func stand(text []byte, name string, number int) string {
	for _, line := range strings.Split(string(text), "\n") {
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if ref := "${" + name + "}"; ok && strings.HasSuffix(strings.ToLower(key), "url") && strings.HasPrefix(strings.Trim(value, ` '"`), ref) {
			return standFor(ref, ref)
		}
		if ok && secretKey.MatchString(key) && strings.Contains(line, "${"+name+"}") {
			return fmt.Sprintf("%d:unset", number) // each account has its own
		}
	}
	return "100000000000000001"
}

// otherStands are tried where an id of Telegram or Discord does not fit: a telephone number, a group of WhatsApp, a group of Telegram, an address.
var otherStands = []string{"15550000001", "120363000000000001@g.us", "-1001000000001", "http://unset.invalid"}

// unset is the variable without a value in the text at a place; "" = there is none.
func (c finisher) unset(place string) string {
	value, _ := jsontree.At(c.config, jsontree.Split(c.config, place)).(string)
	for _, name := range references([]byte(value)) {
		if c.getenv(name) == "" {
			return name
		}
	}
	return ""
}

// shut makes what stands at a place harmless: an account or a server is disabled, a group closed, a list of tools permits none, rules about what may
// leave let nothing out. What opens nothing is left out. It reports false when the place is nowhere.
func (c finisher) shut(place, why string) bool {
	need := func(what, how string) bool { c.Need(what, "parley refuses the value ("+why+"): "+how); return true }
	switch seg := jsontree.Split(c.config, place); {
	case len(seg) == 0:
		return false
	case seg[0] == "models" && seg[len(seg)-1] == "baseUrl": // the key would go to another address
		return false
	case seg[0] == "channels" && len(seg) > 1:
		return c.shutAccount(seg, place, need)
	case seg[0] == "session" && len(seg) > 1 && seg[1] == "sendPolicy":
		c.put([]string{"session", "sendPolicy"}, map[string]any{"default": "deny"})
		return need("session.sendPolicy", "parley sends nothing until you write the rules again")
	case seg[0] == "tools" && len(seg) > 3 && seg[1] == "mcp":
		if at := jsontree.Object(jsontree.At(c.config, seg[:4])); at != nil && at["enabled"] != false {
			at["enabled"] = false
			return need(place, "the server is not started")
		}
		jsontree.Remove(c.config, seg[:min(4, len(seg))])
		return need(place, "the server is left out")
	case seg[len(seg)-1] == "deny" || seg[len(seg)-1] == "allow" || len(seg) > 2 && (seg[len(seg)-2] == "deny" || seg[len(seg)-2] == "allow"):
		end := len(seg) - 1
		if seg[end] != "deny" && seg[end] != "allow" {
			end--
		}
		if in := jsontree.Object(jsontree.At(c.config, seg[:end])); in != nil && slices.Contains(seg, "tools") {
			delete(in, "allow")
			in["deny"] = []any{"*"}
			return need(place, "no tool is permitted there")
		}
	}
	seg := jsontree.Split(c.config, place)
	if seg[0] == "agents" && len(seg) > 3 && seg[1] == "defaults" && seg[2] == "sandbox" {
		c.put([]string{"agents", "defaults", "sandbox"}, map[string]any{"mode": "all"})
		return need(place, "all sessions are sandboxed")
	}
	if seg[0] == "bindings" {
		refused := jsontree.List(c.config["bindings"])
		if len(seg) > 1 {
			refused = []any{jsontree.At(c.config, seg[:2])}
		}
		for _, b := range refused {
			match := jsontree.Object(jsontree.Object(b)["match"])
			c.accounts.closeBound(channels.Kind(jsontree.Text(match["channel"])), match)
		}
		c.Need(place, "parley refuses the value ("+why+")"+bindingClosed)
		return jsontree.Remove(c.config, seg[:min(len(seg), 2)])
	}
	if !jsontree.Remove(c.config, seg) {
		return false
	}
	c.Leave(place, "parley refuses the value: "+why)
	return true
}

// shutAccount closes the group in which something is wrong, else the account. What is wrong in a disabled account is taken away.
func (c finisher) shutAccount(seg []string, place string, need func(string, string) bool) bool {
	end := 2
	if len(seg) > 3 && seg[2] == "accounts" {
		end = 4
	}
	section := jsontree.Object(jsontree.At(c.config, seg[:end]))
	groups := jsontree.Object(section["groups"])
	if len(seg) > end+1 && seg[end] == "groups" {
		id := seg[end+1]
		if g := jsontree.Object(groups[id]); g != nil && (len(g) != 1 || g["enabled"] != false) {
			groups[id] = map[string]any{"enabled": false}
			return need(place, "the group is closed")
		}
		if delete(groups, id); len(groups) == 0 {
			section["groupPolicy"] = disabled
		}
		return need(place, "the group is left out")
	}
	if section["enabled"] != false {
		section["enabled"] = false
		c.accounts.closeWhere(func(a *account) bool { return a.what == "channels."+strings.Join(seg[1:end], ".") })
		return need(place, "the account is disabled: correct it, then remove enabled: false")
	}
	if seg[len(seg)-1] == "apiUrl" { // whoever enables the account again must not send its token to another address
		seg = seg[:end]
	}
	if !jsontree.Remove(c.config, seg) {
		return false
	}
	if end == 4 && len(seg) == 4 && len(jsontree.Object(jsontree.At(c.config, seg[:3]))) == 0 {
		jsontree.Remove(c.config, seg[:2]) // without accounts the channel itself would be one
	}
	c.Leave(place, "the account is disabled")
	return true
}

// reference finds ${NAME}, and $${NAME}, which is a text.
var reference = pattern.New(`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// references returns the variables without which a configuration cannot be read, each once.
func references(text []byte) (names []string) {
	for _, m := range reference.FindAllSubmatch(text, -1) {
		if m[0][1] != '$' {
			names = append(names, string(m[1]))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
