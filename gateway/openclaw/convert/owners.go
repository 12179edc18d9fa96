package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
)

// ownerConverter decides who is an owner and who stays paired, by whom the converted accounts admit.
type ownerConverter struct {
	*output
	accounts accounts
	paired   []Person // in OpenClaw
}

// keepPaired returns the people whom OpenClaw let in by pairing, where it still goes by that: under the policy pairing.
func (c ownerConverter) keepPaired() (out []Person) {
	count := map[string]int{}
	for _, p := range c.paired {
		i := slices.IndexFunc(c.accounts, func(a *account) bool { return a.kind == p.Channel && a.id == AccountID(string(p.Account)) })
		what := fmt.Sprintf("pairing on %s, account %s", p.Channel, p.Account)
		if i < 0 {
			count[what+"\x00there is no such account"]++
			continue
		}
		id, ok := c.ids.Person(p.Channel, string(p.ID))
		switch a := c.accounts[i]; {
		case slices.Contains(a.access.unpaired, id):
			count[what+"\x00channels."+string(a.kind)+".direct keeps them out"]++
		case a.access.dm != pairing:
			count[what+"\x00dmPolicy is "+a.access.dm+", and OpenClaw admits paired people only under pairing"]++
		case !ok || id == everybody || strings.HasPrefix(id, "@"):
			count[what+"\x00these are no ids of people"]++
		default:
			q := Person{p.Channel, a.id, channels.UserID(id)}
			if !slices.Contains(out, q) {
				out = append(out, q)
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
	return out
}

func persons(n int) string {
	if n == 1 {
		return "1 person"
	}
	return fmt.Sprintf("%d people", n)
}

// admits reports whether an account lets a person write directly, and whether all its groups that listen listen to this person as well.
func (c ownerConverter) admits(a *account, id string) bool {
	in := func(list []string) bool { return slices.Contains(list, id) || slices.Contains(list, everybody) }
	paired := slices.ContainsFunc(c.paired, func(p Person) bool {
		known, ok := c.ids.Person(a.kind, string(p.ID))
		return ok && a.access.dm == pairing && !slices.Contains(a.access.unpaired, id) && p.Channel == a.kind && AccountID(string(p.Account)) == a.id && known == id
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
func (c ownerConverter) ownerOf(entry string) (k channels.Kind, id string, ok bool) {
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

// section returns the section commands, which makes owners of those whom OpenClaw names, or of the one person whom it lets write. parley listens to an owner everywhere, so nobody
// becomes one who was not admitted everywhere before.
func (c ownerConverter) section(commands map[string]any) (section []byte) {
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
		return nil
	}
	section = []byte("commands:\n    ownerAllowFrom:\n")
	for _, o := range out {
		section = fmt.Appendf(section, "        - %q\n", o)
	}
	if commands["ownerAllowFrom"] != nil {
		c.Carry(key, "")
	}
	return section
}

// onlyPerson returns the one person of all lists of direct chats; of several it reports a choice.
func (c ownerConverter) onlyPerson(key string) []string {
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
func (c ownerConverter) notAdmitting(k channels.Kind, id string) string {
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
