package policy

// Named reports whether an admitted sender is there by name: listed, paired, or in a chat that was opened by hand. In a group that
// is open to everybody only the lists count.
func (a Access) Named(f Facts) bool {
	if !f.Address.Type.Several() || a.GroupPolicy != GroupOpen {
		return true
	}
	g, _ := a.group(f)
	for _, list := range [][]string{g.allow, a.GroupAllowFrom, a.AllowFrom} {
		if len(list) > 0 {
			return listed(list, f.Address.Channel, f.Sender)
		}
	}
	return false
}
