package policy

// Named reports whether an admitted sender is there by name: listed, paired, or in a chat that was opened by hand. In a group that
// is open to everybody only the lists count.
func (a Access) Named(f Facts) bool {
	if !f.Address.Type.Several() || a.GroupPolicy != GroupOpen {
		return true
	}
	_, list := a.GroupList(f)
	return listed(list, f.Address.Channel, f.Sender)
}

// GroupList returns the list that counts in a group, with its key in the account's section: the first one of the group's allowFrom, groupAllowFrom and
// allowFrom that has an entry. Without any it is groupAllowFrom, empty.
func (a Access) GroupList(f Facts) (key string, list []string) {
	g, _ := a.group(f)
	switch {
	case len(g.allow) > 0:
		return g.allowPath, g.allow
	case len(a.GroupAllowFrom) == 0 && len(a.AllowFrom) > 0:
		return "allowFrom", a.AllowFrom
	}
	return "groupAllowFrom", a.GroupAllowFrom
}
