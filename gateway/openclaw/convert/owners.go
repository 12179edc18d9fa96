package convert

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/openclaw/ids"
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
		i := slices.IndexFunc(c.accounts, func(a *account) bool { return a.kind == p.Channel && a.id == ids.Account(string(p.Account)) })
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
			c.Carry(line, "parley pairing list shows them; parley pairing remove removes one")
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
		return ok && a.access.dm == pairing && !slices.Contains(a.access.unpaired, id) && p.Channel == a.kind && ids.Account(string(p.Account)) == a.id && known == id
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

// section returns the section commands. It makes owners of those whom OpenClaw names, or of the one person whom it lets write. parley listens to
// an owner everywhere, so nobody becomes one who was not admitted everywhere before. paired are the people whom parley keeps as paired.
func (c ownerConverter) section(commands map[string]any, paired []Person) (section []byte) {
	const key = "commands.ownerAllowFrom"
	var out []string
	asked := false
	for _, v := range entries(commands["ownerAllowFrom"]) {
		entry := strings.TrimSpace(fmt.Sprint(v))
		k, id, ok := c.ownerOf(entry)
		switch place := c.notAdmitting(k, id); {
		case !ok && len(references([]byte(entry))) > 0:
			c.Need(key+": "+entry, unknownValue)
			asked = true
		case !ok:
			c.Need(key+": "+entry, "the entry names no single person: write channel:id, such as telegram:1001")
			asked = true
		case place == "no account":
			c.Leave(key+": "+entry, "there is no account of this channel")
		case place != "":
			c.Need(key+": "+entry, fmt.Sprintf("%s does not admit this person, and parley listens to an owner everywhere: to allow that, add the line %s", place, ownerLine(string(k)+":"+id)))
			asked = true
		default:
			out = append(out, string(k)+":"+id)
		}
	}
	listed := c.listed()
	if commands["ownerAllowFrom"] == nil && len(listed) == 1 {
		if kind, id, _ := strings.Cut(listed[0], ":"); c.notAdmitting(channels.Kind(kind), id) == "" {
			out = listed
			c.Differ(key, "the only person of allowFrom is the owner: "+listed[0])
		}
	}
	if out = slices.Compact(out); len(out) == 0 {
		if len(c.accounts) > 0 && !asked {
			c.Need(key, noOwner(listed, paired))
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

// noOwner says how to make an owner, with the people whom lists or pairing admit.
func noOwner(listed []string, paired []Person) string {
	var ways []string
	if len(listed) > 0 || len(paired) == 0 {
		if listed == nil {
			listed = []string{"CHANNEL:ID"}
		}
		ways = append(ways, "Add this line with the owners only: "+ownerLine(listed...))
	}
	var run []string
	for _, p := range paired[:min(len(paired), maxPairedShown)] {
		if command := fmt.Sprintf("parley pairing approve %s %s --owner", p.Channel, p.ID); !slices.Contains(run, command) {
			run = append(run, command)
		}
	}
	if len(run) > 0 {
		ways = append(ways, "A paired person becomes an owner with the host running: "+strings.Join(run, ", or "))
	}
	return "parley has no owner yet, and only owners may use /send or let people in. " + strings.Join(ways, ". ")
}

// maxPairedShown bounds the commands for paired people; parley pairing list shows all of them.
const maxPairedShown = 5

// ownerLine is the line of the configuration that makes owners.
func ownerLine(who ...string) string {
	return `commands: {ownerAllowFrom: ["` + strings.Join(who, `", "`) + `"]}`
}

// listed returns the people whom the lists of direct chats name, as channel:id.
func (c ownerConverter) listed() (out []string) {
	for _, a := range c.accounts {
		for _, id := range a.access.allow {
			if o := string(a.kind) + ":" + id; a.access.dm != disabled && id != everybody && !variable.MatchString(id) && !strings.HasPrefix(id, "@") && !slices.Contains(out, o) {
				out = append(out, o)
			}
		}
	}
	return out
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
