package openclaw

import (
	"cmp"
	"slices"

	"parley/channels"
	"parley/sessions"
)

// Item is one line of the report.
type Item struct {
	What string `json:"what"`
	Why  string `json:"why,omitempty"` // why it is different or left out, and what to do
}

// Report says what becomes of everything that was found. No secret is in it.
type Report struct {
	Carried   []Item `json:"carried"`
	Different []Item `json:"different"`
	Left      []Item `json:"left"`
	Sessions  int    `json:"sessions"`
	Messages  int    `json:"messages"`
}

func (r *Report) carried(what, why string) { r.Carried = append(r.Carried, Item{what, why}) }
func (r *Report) different(what, why string) {
	r.Different = append(r.Different, Item{what, why})
}
func (r *Report) left(what, why string) { r.Left = append(r.Left, Item{what, why}) }

// sort brings the lines into an order that does not depend on chance.
func (r *Report) sort() {
	for _, list := range []*[]Item{&r.Carried, &r.Different, &r.Left} {
		slices.SortStableFunc(*list, func(a, b Item) int { return cmp.Compare(a.What, b.What) })
		*list = slices.Compact(*list)
		if *list == nil {
			*list = []Item{}
		}
	}
}

// Imported is one session.
type Imported struct {
	Session  sessions.Session
	Messages []sessions.Message
}

// Result is the configuration and the sessions made from a state folder, with the report.
type Result struct {
	Report   Report
	Config   []byte                     // the configuration; nil when there was none
	Needs    []string                   // variables that it takes from the environment and that nothing here sets
	Secrets  map[string]channels.Secret // that it takes from the environment, by name
	Sessions []Imported
}
