package prooftest

// quoted holds the messages that texts quote against those that they are owed to.
func (c *check) quoted() {
	said := map[name]*Said{}
	for i := range c.h.Said {
		if s := &c.h.Said[i]; s.ID != "" {
			said[name{s.Place.Platform, s.Place.Account, s.Place.Chat, s.ID}] = s
		}
	}
	for _, l := range c.chats.lines {
		v := l.versions[0]
		of := said[name{l.place.Platform, l.place.Account, l.place.Chat, v.About}]
		if d, strange := c.of(l, v); of != nil && !strange && d.said != nil && d.said != of {
			c.fault(Misquoted, d, l.place, "it quotes ["+of.Token+"]: "+tellShown(v))
		}
	}
}
