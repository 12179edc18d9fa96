package report

import (
	"cmp"
	"slices"
	"strings"
)

// Item is one line of the report.
type Item struct {
	What string `json:"what"`          // the key, file, or session, as OpenClaw calls it
	Why  string `json:"why,omitempty"` // the reason, and what to do
}

// Report has one list of lines for each section, in the order in which a person reads them.
type Report struct {
	NeedsYou   []Item `json:"needsYou"`   // the import is not complete before somebody decides or does this
	OpenToMore []Item `json:"openToMore"` // admits more people, chats, tools or destinations than OpenClaw did; should be empty
	Different  []Item `json:"different"`  // carried over, with another meaning or in another place
	Left       []Item `json:"left"`       // not carried over
	Also       []Item `json:"also"`       // files and folders that were found and not read
	Carried    []Item `json:"carried"`    // carried over as they are
	Sessions   int    `json:"sessions"`
	Messages   int    `json:"messages"`
}

// Need adds a line to the section "Needs you".
func (r *Report) Need(what, why string) { r.NeedsYou = append(r.NeedsYou, Item{what, why}) }

// Open adds a line to the section "Open to more people than before".
func (r *Report) Open(what, why string) { r.OpenToMore = append(r.OpenToMore, Item{what, why}) }

// Differ adds a line to the section "Different now".
func (r *Report) Differ(what, why string) { r.Different = append(r.Different, Item{what, why}) }

// Leave adds a line to the section "Left out".
func (r *Report) Leave(what, why string) { r.Left = append(r.Left, Item{what, why}) }

// See adds a line to the section "Also in this folder".
func (r *Report) See(what, why string) { r.Also = append(r.Also, Item{what, why}) }

// Carry adds a line to the list of what was carried over as it is.
func (r *Report) Carry(what, why string) { r.Carried = append(r.Carried, Item{what, why}) }

// Sort orders each section by name, makes one line of each thing, in one section only, and makes absent sections empty lists.
func (r *Report) Sort() {
	r.oldNames()
	above := map[string]*Item{} // the line of each thing in the sections so far
	for _, list := range []*[]Item{&r.NeedsYou, &r.OpenToMore, &r.Left, &r.Different, &r.Carried, &r.Also} {
		slices.SortStableFunc(*list, func(a, b Item) int { return cmp.Compare(a.What, b.What) })
		own := []Item{}
		for _, x := range *list {
			if upper := above[x.What]; upper == nil && len(own) > 0 && own[len(own)-1].What == x.What {
				own[len(own)-1].add(x.Why)
			} else if upper == nil {
				own = append(own, x)
			} else if list != &r.Different || !slices.ContainsFunc(r.Left, func(l Item) bool { return l.What == x.What }) {
				upper.add(x.Why)
			} // else the thing was carried over first, and then left out: only that is true
		}
		*list = own
		for i := range own {
			if above[own[i].What] == nil {
				above[own[i].What] = &own[i]
			}
		}
	}
}

// oldNames gives what is left out the name that the file has, where a key was brought to a new place first (old → new). Such a key was not carried
// over.
func (r *Report) oldNames() {
	old := map[string][]string{}
	r.Carried = slices.DeleteFunc(r.Carried, func(i Item) bool {
		from, to, moved := strings.Cut(i.What, " → ")
		at := slices.IndexFunc(r.Left, func(l Item) bool { return l.What == to || strings.HasPrefix(to, l.What+".") })
		if !moved || at < 0 {
			return false
		}
		if r.Left[at].What == to {
			old[to] = append(old[to], from)
		}
		return true
	})
	for i, l := range r.Left {
		if names := old[l.What]; names != nil {
			slices.Sort(names)
			r.Left[i].What = strings.Join(slices.Compact(names), ", ")
		}
	}
}

// add appends a reason.
func (i *Item) add(why string) {
	switch {
	case why == "" || strings.Contains(i.Why, why):
	case i.Why == "":
		i.Why = why
	default:
		i.Why += "; " + why
	}
}

// Section is one list of the report with its title.
type Section struct {
	Title string
	Items []Item
	Must  bool // shown even when it is empty
	Quiet bool // for --verbose only
}

// Sections returns the lists of the report in the order in which a person reads them.
func (r *Report) Sections() []Section {
	return []Section{
		{"Needs you", r.NeedsYou, true, false},
		{"Open to more people than before (should be empty)", r.OpenToMore, true, false},
		{"Different now", r.Different, false, false},
		{"Left out", r.Left, false, false},
		{"Also in this folder", r.Also, false, false},
		{"Carried over", r.Carried, false, true},
	}
}

// Group is the things of a section that share a reason.
type Group struct {
	What []string
	Why  string
}

// Groups gathers lines that have the same reason, in the order of their first line.
func Groups(items []Item) []Group {
	var out []Group
	at := map[string]int{}
	for _, i := range items {
		n, ok := at[i.Why]
		if !ok {
			n, at[i.Why] = len(out), len(out)
			out = append(out, Group{Why: i.Why})
		}
		out[n].What = append(out[n].What, i.What)
	}
	return out
}
