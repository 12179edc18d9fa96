package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
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

// channel converts all accounts of a channel kind. Each one is written with everything that says who may use it, so that nothing is inherited
// by accident; other fields stay where they are.
func (c *conversion) channel(kind string, v any) {
	k, what := channels.Kind(kind), "channels."+kind
	top, ok := v.(map[string]any)
	switch {
	case kind == "defaults":
		for _, key := range slices.Sorted(maps.Keys(top)) {
			if key != "groupPolicy" {
				c.Leave(what+"."+key, "set it for each channel")
			}
		}
		return
	case !ok || !c.ids.Has(k):
		c.Leave(what, "parley has no such channel")
		return
	}
	section := map[string]any{}
	put(c.out, []string{"channels", kind}, section)
	c.fields(kind, what, top, section)
	own := object(top["accounts"])
	if len(own) == 0 {
		c.account(account{kind: k, id: channels.DefaultAccount, what: what, out: section, on: top["enabled"] == nil || top["enabled"] == true}, top)
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
		name, out := AccountID(id), map[string]any{}
		at := what + ".accounts." + id
		if all[string(name)] != nil {
			c.Need(at, "another account becomes the same name in parley: rename one of them, and add it to the new file")
			continue
		}
		all[string(name)] = out
		fields := c.effective(k, at, top, object(raw[id]), name)
		if own[id] != nil {
			c.fields(kind, at, object(raw[id]), out)
		}
		on := (top["enabled"] == nil || top["enabled"] == true) && (fields["enabled"] == nil || fields["enabled"] == true)
		c.account(account{kind: k, id: name, what: at, out: out, on: on}, fields)
	}
}

func hasAccount(own map[string]any, id channels.AccountID) bool {
	for name := range own {
		if AccountID(name) == id {
			return true
		}
	}
	return false
}

// effective returns what an account says, with what it takes from its channel; on WhatsApp it takes it from the account default first. The
// channel's token belongs to the account default. Maps replace one another as a whole.
func (c *conversion) effective(k channels.Kind, at string, top, own map[string]any, id channels.AccountID) map[string]any {
	out := maps.Clone(top)
	delete(out, "enabled")
	if k == "whatsapp" && id != channels.DefaultAccount {
		maps.Copy(out, object(object(top["accounts"])[string(channels.DefaultAccount)]))
		delete(out, "enabled")
	}
	delete(out, "accounts")
	if id != channels.DefaultAccount {
		for _, key := range tokens[k].keys {
			delete(out, key)
		}
	}
	maps.Copy(out, own)
	if own["dmPolicy"] == nil && object(own["dm"])["policy"] != nil { // its own older key, not the channel's newer one
		delete(out, "dmPolicy")
	}
	if own["allowFrom"] == nil && object(own["dm"])["allowFrom"] != nil {
		delete(out, "allowFrom")
	}
	if outer, inner := entries(top["allowFrom"]), entries(own["allowFrom"]); top["allowFrom"] != nil && !slices.Contains(outer, any(everybody)) && slices.Contains(inner, any(everybody)) {
		out["allowFrom"] = slices.DeleteFunc(slices.Clone(inner), func(v any) bool { return v == everybody })
		c.Differ(at+".allowFrom", `"*" does not count here, because the channel's own allowFrom names single people`)
	}
	return out
}

// account converts who may use one account, and its secret.
func (c *conversion) account(a account, f map[string]any) {
	a.access.groupPolicy = disabled
	c.direct(a.kind, a.what, f, &a.access)
	if a.kind == "discord" {
		c.guilds(a.kind, a.what, f, &a.access)
		a.access.bots = f["allowBots"] == true
		if f["allowBots"] != nil && f["allowBots"] != true && f["allowBots"] != false {
			c.Leave(a.what+".allowBots", "parley has no mention rule for bots, so it ignores other bots")
		}
	} else {
		c.chats(a.kind, a.what, f, &a.access)
	}
	a.access.write(a.out)
	for _, key := range []string{"dmPolicy", "allowFrom", "groupPolicy", "groupAllowFrom"} {
		if f[key] != nil {
			c.Carry(a.what+"."+key, "")
		}
	}
	c.token(&a, f)
	if !a.on {
		a.out["enabled"] = false
		c.Carry(a.what+".enabled", "")
	}
	c.accounts = append(c.accounts, a)
}

// close disables an account.
func (c *conversion) close(a *account) {
	a.on = false
	a.out["enabled"] = false
}

// closeWhere disables the accounts that a condition selects, and returns how many were on.
func (c *conversion) closeWhere(is func(*account) bool) (n int) {
	for i := range c.accounts {
		if a := &c.accounts[i]; a.on && is(a) {
			c.close(a)
			n++
		}
	}
	return n
}

// token finds the secret of an account. Without one the account is kept, but disabled.
func (c *conversion) token(a *account, f map[string]any) {
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
			name = variableFor(string(a.kind), string(a.id), "token")
		}
		a.out["token"] = c.secret(a.what+"."+key, name, v)
		c.Carry(a.what+"."+key, "")
		return
	}
	if a.id == channels.DefaultAccount {
		a.out["token"] = "${" + t.variable + "}"
		c.Carry(a.what+"."+t.keys[0], "it is the variable "+t.variable+", as in OpenClaw")
		return
	}
	if a.on {
		c.close(a)
		c.Need(a.what+"."+t.keys[0], "there is no token, so the account is disabled: add token, then remove enabled: false")
	}
}

// fields carries over the fields of a channel or account that say nothing about people.
func (c *conversion) fields(kind, what string, f, out map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(f)) {
		at, v := what+"."+key, f[key]
		switch {
		case slices.Contains(accessKeys, key):
		case key == "proxy":
			c.Leave(at, "set HTTPS_PROXY in the environment of parley: it holds for all channels")
		case key == "streaming" || key == "streamMode":
			if mode := text(v); v == false || mode == "off" || text(object(v)["mode"]) == "off" {
				put(out, []string{"streaming"}, map[string]any{"direct": "off", "group": "off"})
				c.Carry(at, "")
			} else {
				c.Leave(at, "parley shows answers in direct chats while they are written: streaming.direct and streaming.group change that")
			}
		case kind == "telegram" && key == "webhookSecret":
			put(out, []string{"webhook", "secret"}, c.secret(at, variableFor(strings.TrimPrefix(what, "channels."), "webhook_secret"), v))
			c.Carry(at, "")
		case kind == "telegram" && key == "webhookUrl":
			put(out, []string{"webhook", "url"}, v)
			c.Differ(at, "parley serves the webhook at its own address (docs/channels.md): point the reverse proxy to that address")
		default:
			c.walk(slices.Concat(own[kind], accountRules), []string{key}, v, out, what+".")
		}
	}
}

// paired keeps the people whom OpenClaw let in by pairing, where it still goes by that: under the policy pairing.
func (c *conversion) paired() {
	count := map[string]int{}
	for _, p := range c.in.Paired {
		i := slices.IndexFunc(c.accounts, func(a account) bool { return a.kind == p.Channel && a.id == AccountID(string(p.Account)) })
		what := fmt.Sprintf("pairing on %s, account %s", p.Channel, p.Account)
		if i < 0 {
			count[what+"\x00there is no such account"]++
			continue
		}
		id, ok := c.ids.Person(p.Channel, string(p.ID))
		switch a := c.accounts[i]; {
		case a.access.dm != pairing:
			count[what+"\x00dmPolicy is "+a.access.dm+", and OpenClaw admits paired people only under pairing"]++
		case !ok || id == everybody || strings.HasPrefix(id, "@"):
			count[what+"\x00these are no ids of people"]++
		default:
			q := Person{p.Channel, a.id, channels.UserID(id)}
			if !slices.Contains(c.result.Paired, q) {
				c.result.Paired = append(c.result.Paired, q)
				count[what+"\x00"]++
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(count)) {
		what, why, _ := strings.Cut(key, "\x00")
		line := what + ": " + persons(count[key])
		if why == "" {
			c.Carry(line, "parley pairing list shows them, parley pairing remove takes them out")
		} else {
			c.Leave(line, why)
		}
	}
}

func persons(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}

// admits reports whether an account lets a person write directly, and whether all its groups that listen listen to this person as well.
func (c *conversion) admits(a account, id string) bool {
	in := func(list []string) bool { return slices.Contains(list, id) || slices.Contains(list, everybody) }
	paired := slices.ContainsFunc(c.in.Paired, func(p Person) bool {
		known, ok := c.ids.Person(a.kind, string(p.ID))
		return ok && a.access.dm == pairing && p.Channel == a.kind && AccountID(string(p.Account)) == a.id && known == id
	})
	if a.access.dm == disabled || !in(a.access.allow) && !paired {
		return false
	}
	if a.access.groupPolicy == disabled {
		return true
	}
	top := a.access.groupPolicy == open || in(a.access.fallback())
	if len(a.access.groups) == 0 {
		return top
	}
	var all func(groups map[string]group, outer bool) bool
	all = func(groups map[string]group, outer bool) bool {
		for _, g := range groups {
			here := outer
			if len(g.allow) > 0 {
				here = in(g.allow)
			}
			if !g.off && (!here || !all(g.topics, here)) {
				return false
			}
		}
		return true
	}
	return all(a.access.groups, top)
}

// ownerOf returns the owner that an entry names, as parley writes it.
func (c *conversion) ownerOf(entry string) (k channels.Kind, id string, ok bool) {
	word, rest, has := strings.Cut(entry, ":")
	k = channels.Kind(strings.ToLower(strings.TrimSpace(word)))
	if k == "tg" {
		k = "telegram"
	}
	if has && c.ids.Has(k) {
		id, ok = c.ids.Person(k, rest)
		return k, id, ok && id != everybody && !strings.HasPrefix(id, "@")
	}
	var found []channels.Kind // an id without its channel
	for _, a := range c.accounts {
		if p, fits := c.ids.Person(a.kind, entry); fits && !strings.HasPrefix(p, "@") && p != everybody && !slices.Contains(found, a.kind) {
			found, id = append(found, a.kind), p
		}
	}
	if len(found) != 1 {
		return "", "", false
	}
	return found[0], id, true
}

// owners makes owners of those whom OpenClaw names, or of the one person whom it lets write. parley listens to an owner everywhere, so nobody
// becomes one who was not admitted everywhere before.
func (c *conversion) owners(commands map[string]any) {
	const key = "commands.ownerAllowFrom"
	named := entries(commands["ownerAllowFrom"])
	var out []string
	for _, v := range named {
		entry := strings.TrimSpace(fmt.Sprint(v))
		k, id, ok := c.ownerOf(entry)
		switch place := c.notAdmitting(k, id); {
		case !ok:
			c.Need(key+": "+entry, "the entry names no single person: write channel:id, such as telegram:1001")
		case place == "no account":
			c.Leave(key+": "+entry, "there is no account of this channel")
		case place != "":
			c.Need(key+": "+entry, fmt.Sprintf("%s does not admit this person, and parley listens to an owner everywhere: to allow that, add %s:%s to %s", place, k, id, key))
		default:
			out = append(out, string(k)+":"+id)
		}
	}
	if commands["ownerAllowFrom"] == nil {
		out = c.onlyPerson(key)
	}
	out = slices.Compact(out)
	if len(out) == 0 {
		if len(c.accounts) > 0 {
			c.Need("owners", "parley has no owner yet, and only owners may use /send or let people in: add channel:id to "+key)
		}
		return
	}
	c.result.Config = append(c.result.Config, []byte("commands:\n    ownerAllowFrom:\n")...)
	for _, o := range out {
		c.result.Config = fmt.Appendf(c.result.Config, "        - %q\n", o)
	}
	if commands["ownerAllowFrom"] != nil {
		c.Carry(key, "")
	}
}

// onlyPerson returns the one person of all lists of direct chats; of several it reports a choice.
func (c *conversion) onlyPerson(key string) []string {
	var who, all []string
	for _, a := range c.accounts {
		for _, id := range a.access.allow {
			if o := string(a.kind) + ":" + id; a.access.dm != disabled && id != everybody && !variable.MatchString(id) && !strings.HasPrefix(id, "@") && !slices.Contains(all, o) {
				if all = append(all, o); c.notAdmitting(a.kind, id) == "" {
					who = append(who, o)
				}
			}
		}
	}
	switch {
	case len(all) == 1 && len(who) == 1:
		c.Differ(key, "the only person of allowFrom is the owner: "+who[0])
		return who
	case len(all) > 0:
		c.Need(key, "several people may write to parley; add those who are owners: "+strings.Join(all, ", "))
	}
	return nil
}

// notAdmitting returns the first account of a channel that does not let a person write everywhere; "" = all do.
func (c *conversion) notAdmitting(k channels.Kind, id string) string {
	found := "no account"
	for _, a := range c.accounts {
		if a.kind != k {
			continue
		}
		if !c.admits(a, id) {
			return a.what
		}
		found = ""
	}
	return found
}
