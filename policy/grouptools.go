package policy

import (
	"maps"
	"slices"

	"parley/channels"
)

// GroupTools gives what an account's section says about the tools of a turn in a chat of several people: first its group, then its
// topic, and for each what it says about the senders that the turn answers. who is empty when nobody knows them: then all entries
// about senders count. parent is the chat that a thread with a chat id of its own belongs to. at is the config key of the section.
func (a Access) GroupTools(at string, to channels.Address, parent channels.ChatID, who []channels.Sender) (out []ToolRules) {
	if !to.Type.Several() {
		return nil
	}
	list, _ := a.Entries(to, parent)
	for _, g := range list {
		key := at + "." + g.Path
		if len(g.Tools.Allow)+len(g.Tools.Deny) > 0 {
			out = append(out, g.Tools.Under(key+".tools"))
		}
		for _, e := range g.senderEntries(to.Channel, who) {
			out = append(out, g.ToolsBySender[e].Under(key+".toolsBySender["+e+"]"))
		}
	}
	return out
}

// senderEntries gives the entries of toolsBySender that count: those that name a sender, for one whom none names "*".
func (g GroupAccess) senderEntries(kind channels.Kind, who []channels.Sender) []string {
	all := slices.Sorted(maps.Keys(g.ToolsBySender))
	if len(who) == 0 {
		return all
	}
	var out []string
	for _, u := range who {
		named := slices.DeleteFunc(slices.Clone(all), func(e string) bool { return e == "*" || !listed([]string{e}, kind, u) })
		if len(named) == 0 && slices.Contains(all, "*") {
			named = []string{"*"}
		}
		out = append(out, named...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
