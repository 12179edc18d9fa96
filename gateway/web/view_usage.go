package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"time"

	"parley/gateway/api"
)

// usageView is view_usage.html.
type usageView struct {
	Days   int
	Ranges []usageLink
	Shows  []usageLink // cost or tokens; one of them where there is no cost
	Total  api.UsageSum
	Models []modelSum
	Lifts  []string
	Zone   string
	Chart  chart
}

// Tokens are those of the whole range.
func (v usageView) Tokens() int { return v.Total.Input + v.Total.Output }

// usageLink is one choice.
type usageLink struct {
	Name, Link string
	On         bool
}

// modelSum is what a model was used.
type modelSum struct {
	Model string
	api.UsageSum
}

func (s site) usage(r *http.Request) (any, error) {
	q := r.URL.Query()
	days, _ := strconv.Atoi(q.Get("days")) // anything else is the range below
	if days != 7 && days != 90 {
		days = 30
	}
	u, err := call[api.Usage](s, r, "usage", &api.UsageQuery{Days: days})
	if err != nil {
		return nil, err
	}
	measure := q.Get("show")
	if u.Total.Cost == 0 || measure != byCost && measure != byTokens {
		measure = byTokens
		if u.Total.Cost > 0 {
			measure = byCost
		}
	}
	v := usageView{Days: days, Total: u.Total, Models: sumModels(u.Days), Lifts: u.Lifts, Zone: u.Zone}
	for _, d := range []int{7, 30, 90} {
		v.Ranges = append(v.Ranges, usageLink{strconv.Itoa(d) + " days", withParams("/usage", "days", strconv.Itoa(d), "show", measure), d == days})
	}
	if u.Total.Cost > 0 {
		for _, m := range []usageLink{{Name: "Cost", Link: byCost}, {Name: "Tokens", Link: byTokens}} {
			v.Shows = append(v.Shows, usageLink{m.Name, withParams("/usage", "days", strconv.Itoa(days), "show", m.Link), m.Link == measure})
		}
	}
	v.Chart = newChart(u.Days, measure, today(u.Zone, time.Now()), days)
	return v, nil
}

// today is the day that it is in a zone; an unknown zone is the host's.
func today(zone string, now time.Time) time.Time {
	in, err := time.LoadLocation(zone)
	if err != nil || zone == "" {
		in = time.Local
	}
	y, m, d := now.In(in).Date()
	return time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
}

// sumModels sums up by model, the dearest first.
func sumModels(rows []api.UsageRow) (out []modelSum) {
	for _, r := range rows {
		i := slices.IndexFunc(out, func(m modelSum) bool { return m.Model == r.Model })
		if i < 0 {
			i = len(out)
			out = append(out, modelSum{Model: r.Model})
		}
		m := &out[i].UsageSum
		m.Calls += r.Calls
		m.Input += r.Input
		m.Output += r.Output
		m.CacheRead += r.CacheRead
		m.CacheWrite += r.CacheWrite
		m.Cost += r.Cost
	}
	slices.SortStableFunc(out, func(a, b modelSum) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(b.Input+b.Output, a.Input+a.Output))
	})
	return out
}

// Filled are the days on which something was used, newest first: what the table lists.
func (c chart) Filled() (out []chartDay) {
	for _, d := range slices.Backward(c.Days) {
		if d.Total > 0 {
			out = append(out, d)
		}
	}
	return out
}
