package convert

import (
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/configfile"
	"parley/gateway/openclaw/ids"
	"parley/gateway/openclaw/jsontree"
)

// account is one account as it was converted.
type account struct {
	kind   channels.Kind
	id     channels.AccountID
	what   string         // where it is in OpenClaw's configuration
	out    map[string]any // its section in parley's
	access access
	on     bool
}

// accounts are those of all channels as they were converted.
type accounts []*account

// close disables an account.
func (a *account) close() {
	a.on = false
	a.out["enabled"] = false
}

// closeWhere disables the accounts that a condition selects, and returns how many were on.
func (all accounts) closeWhere(is func(*account) bool) (n int) {
	for _, a := range all {
		if a.on && is(a) {
			a.close()
			n++
		}
	}
	return n
}

// closeBound disables the accounts for which a binding chooses an agent, because without it another agent would answer there.
func (all accounts) closeBound(k channels.Kind, match map[string]any) {
	all.closeWhere(func(a *account) bool {
		return a.kind == k && (jsontree.Text(match["accountId"]) == everybody || ids.Account(jsontree.Text(match["accountId"])) == a.id)
	})
}

// accessKeys are the keys of an account that are converted as a whole.
var accessKeys = []string{"accounts", "defaultAccount", "enabled", "dm", "dmPolicy", "allowFrom", "groupPolicy", "groupAllowFrom", "groups", "guilds", "allowBots", "direct", "botToken", "token"}

// tokens are the keys of a secret that belongs to one account, and the variable that OpenClaw reads for the account default.
var tokens = map[channels.Kind]struct {
	keys     []string
	variable string
}{
	"telegram": {[]string{"botToken"}, "TELEGRAM_BOT_TOKEN"},
	"discord":  {[]string{"token"}, "DISCORD_BOT_TOKEN"},
}

// channels converts the section channels.
func (o *output) channels(section, senderGroups map[string]any) (out accounts) {
	defaults := jsontree.Object(section["defaults"])
	for _, key := range slices.Sorted(maps.Keys(defaults)) {
		if key != "groupPolicy" {
			o.Leave("channels.defaults."+key, "parley has no default for all channels: set it for each channel")
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(section)) {
		top, ok := section[kind].(map[string]any)
		switch k := channels.Kind(kind); {
		case kind == "defaults":
		case !ok || !o.ids.Has(k):
			o.Leave("channels."+kind, "parley has no such channel")
		default:
			c := channelConverter{o, k, accessConverter{o, k, senderGroups, defaults["groupPolicy"]}, nil}
			c.convert(top)
			out = append(out, c.accounts...)
		}
	}
	return out
}

// channelConverter converts the accounts of one channel.
type channelConverter struct {
	*output
	kind     channels.Kind
	access   accessConverter
	accounts accounts
}

// convert converts all accounts. Each one is written with everything that says who may use it, so that nothing is inherited by accident; other
// fields stay where they are.
func (c *channelConverter) convert(top map[string]any) {
	k, kind := c.kind, string(c.kind)
	what := "channels." + kind
	section := map[string]any{}
	c.put([]string{"channels", kind}, section)
	c.fields(what, top, section)
	own := jsontree.Object(top["accounts"])
	if len(own) == 0 {
		c.account(&account{kind: k, id: channels.DefaultAccount, what: what, out: section, on: top["enabled"] == nil || top["enabled"] == true}, top)
		return
	}
	if top["enabled"] != nil && top["enabled"] != true {
		section["enabled"] = false
	}
	raw := maps.Clone(own)
	if hasToken := slices.ContainsFunc(tokens[k].keys, func(key string) bool { return top[key] != nil }); hasToken && !hasAccount(own, channels.DefaultAccount) {
		raw[string(channels.DefaultAccount)] = map[string]any{} // the top-level bot is the account default
	}
	all := map[string]any{}
	section["accounts"] = all
	for _, id := range slices.Sorted(maps.Keys(raw)) {
		name, out := ids.Account(id), map[string]any{}
		at := what + ".accounts." + id
		if all[string(name)] != nil {
			c.Need(at, "another account has the same name in parley: rename one of them, and add it to the new configuration")
			continue
		}
		all[string(name)] = out
		fields := c.effective(at, top, jsontree.Object(raw[id]), name)
		if own[id] != nil {
			c.fields(at, jsontree.Object(raw[id]), out)
		}
		on := (top["enabled"] == nil || top["enabled"] == true) && (fields["enabled"] == nil || fields["enabled"] == true)
		c.account(&account{kind: k, id: name, what: at, out: out, on: on}, fields)
	}
}

func hasAccount(own map[string]any, id channels.AccountID) bool {
	for name := range own {
		if ids.Account(name) == id {
			return true
		}
	}
	return false
}

// effective returns what an account says, with what it takes from its channel; on WhatsApp it takes it from the account default first. The
// channel's token belongs to the account default. Maps replace one another as a whole.
func (c *channelConverter) effective(at string, top, own map[string]any, id channels.AccountID) map[string]any {
	out := maps.Clone(top)
	delete(out, "enabled")
	if c.kind == "whatsapp" && id != channels.DefaultAccount {
		maps.Copy(out, jsontree.Object(jsontree.Object(top["accounts"])[string(channels.DefaultAccount)]))
		delete(out, "enabled")
	}
	delete(out, "accounts")
	if id != channels.DefaultAccount {
		for _, key := range tokens[c.kind].keys {
			delete(out, key)
		}
	}
	maps.Copy(out, own)
	if own["dmPolicy"] == nil && jsontree.Object(own["dm"])["policy"] != nil { // its own older key, not the channel's newer one
		delete(out, "dmPolicy")
	}
	if own["allowFrom"] == nil && jsontree.Object(own["dm"])["allowFrom"] != nil {
		delete(out, "allowFrom")
	}
	if outer, inner := entries(top["allowFrom"]), entries(own["allowFrom"]); top["allowFrom"] != nil && !slices.Contains(outer, any(everybody)) && slices.Contains(inner, any(everybody)) {
		out["allowFrom"] = slices.DeleteFunc(slices.Clone(inner), func(v any) bool { return v == everybody })
		c.Differ(at+".allowFrom", `"*" does not count here, because the channel's own allowFrom names single people`)
	}
	return out
}

// account converts who may use one account, and its secret.
func (c *channelConverter) account(a *account, f map[string]any) {
	a.access.groupPolicy = disabled
	c.access.direct(a.what, f, &a.access)
	if a.kind == "discord" {
		c.access.guilds(a.what, f, &a.access)
		a.access.bots = f["allowBots"] == true
		if f["allowBots"] != nil && f["allowBots"] != true && f["allowBots"] != false {
			c.Leave(a.what+".allowBots", "parley cannot demand a mention from bots alone, so it ignores other bots")
		}
	} else {
		c.access.groups(a.what, f, &a.access)
	}
	a.access.write(a.out)
	for _, key := range []string{"dmPolicy", "allowFrom", "groupPolicy", "groupAllowFrom"} {
		if f[key] != nil {
			c.Carry(a.what+"."+key, "")
		}
	}
	c.token(a, f)
	if !a.on {
		a.out["enabled"] = false
		c.Carry(a.what+".enabled", "")
	}
	c.accounts = append(c.accounts, a)
}

// token finds the secret of an account. Without one the account is kept, but disabled.
func (c *channelConverter) token(a *account, f map[string]any) {
	t, ok := tokens[a.kind]
	if !ok {
		return
	}
	for _, key := range t.keys {
		v := f[key]
		if v == nil || v == "" {
			continue
		}
		name := strings.ToUpper(string(a.kind)) + "_TOKEN"
		if a.id != channels.DefaultAccount {
			name = configfile.VariableName(string(a.kind), string(a.id), "token")
		}
		a.out["token"] = secretOr(name, v)
		c.Carry(a.what+"."+key, "")
		return
	}
	if a.id == channels.DefaultAccount {
		a.out["token"] = "${" + t.variable + "}"
		c.Carry(a.what+"."+t.keys[0], "parley reads it from the variable "+t.variable+", as OpenClaw does")
		return
	}
	if a.on {
		a.close()
		c.Need(a.what+"."+t.keys[0], "there is no token, so the account is disabled: add token, then remove enabled: false")
	}
}

// fields carries over the fields of a channel or account that say nothing about people.
func (c *channelConverter) fields(what string, f, out map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(f)) {
		at, v := what+"."+key, f[key]
		switch {
		case slices.Contains(accessKeys, key):
		case key == "proxy":
			c.Leave(at, "set HTTPS_PROXY in the environment of parley: it holds for all channels")
		case key == "streaming" || key == "streamMode":
			if mode := jsontree.Text(v); v == false || mode == "off" || jsontree.Text(jsontree.Object(v)["mode"]) == "off" {
				jsontree.Put(out, []string{"streaming"}, map[string]any{"direct": "off", "group": "off"})
				c.Carry(at, "")
			} else {
				c.Leave(at, "parley shows answers in direct chats while they are written: streaming.direct and streaming.group change that")
			}
		case c.kind == "telegram" && key == "webhookSecret":
			jsontree.Put(out, []string{"webhook", "secret"}, secretOr(configfile.VariableName(strings.TrimPrefix(what, "channels."), "webhook_secret"), v))
			c.Carry(at, "")
		case c.kind == "telegram" && key == "webhookUrl":
			jsontree.Put(out, []string{"webhook", "url"}, v)
			c.Differ(at, "parley serves the webhook at its own address (docs/channels.md): point the reverse proxy to that address")
		default:
			c.walk(slices.Concat(own[string(c.kind)], accountRules), []string{key}, v, out, what+".")
		}
	}
}
