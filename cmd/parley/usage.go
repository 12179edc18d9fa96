package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"parley/gateway/api"
	"parley/gateway/chatclient"
)

type usageCmd struct {
	Days  int    `default:"30" help:"Number of days to show."`
	Agent string `help:"Show only calls of this agent." placeholder:"AGENT"`
	By    string `enum:"day,agent,model,all" default:"all" help:"Group by day, agent or model; all means one row for each combination." placeholder:"WHAT"`
	asJSON
}

// Help shows examples.
func (usageCmd) Help() string {
	return "Examples:\n\n  parley usage --days 7\n  parley usage --by model\n  parley usage --json | jq .total.cost"
}

func (c usageCmd) Run(e *env) error {
	if c.Days < 1 {
		return misuse("--days must be at least 1")
	}
	u, err := request[api.Usage](e, "GET /api/usage", api.UsageQuery{Days: c.Days, Agent: c.Agent})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, u, func(p *page, u api.Usage) { printUsage(p, u, c.By) })
}

func printUsage(p *page, u api.Usage, by string) {
	if len(u.Days) == 0 {
		p.note("The host called no model in this time.\n")
		return
	}
	chart(p, u)
	columns := []string{"DAY", "AGENT", "~MODEL"}
	if by != "all" {
		columns = []string{strings.ToUpper(by)}
	}
	g := p.grid(append(slices.Clone(columns), "CALLS", "INPUT", "CACHED", "OUTPUT", "COST")...)
	row := func(r api.UsageRow) {
		var cells []any
		for _, c := range columns {
			cells = append(cells, map[string]string{"DAY": r.Day, "AGENT": string(r.Agent), "MODEL": r.Model}[strings.TrimPrefix(c, "~")])
		}
		g.row(append(cells, r.Calls, short(r.Input), short(r.CacheRead), short(r.Output), cost(r.Cost))...)
	}
	for _, r := range summed(u.Days, by) {
		row(r)
	}
	total := api.UsageRow{Day: "total", UsageSum: u.Total}
	if by != "all" {
		total.Agent, total.Model = "total", "total"
	}
	row(total)
	g.print("")
	for _, l := range u.Lifts {
		p.note("budget lifted: %s\n", chatclient.OneLine(l))
	}
	p.note("the days are those of the time zone %s\n", u.Zone)
}

// summed adds up rows that differ in nothing that is looked at; by = day, agent, model or all.
func summed(rows []api.UsageRow, by string) (out []api.UsageRow) {
	for _, r := range rows {
		k := r
		k.UsageSum = api.UsageSum{}
		switch by {
		case "day":
			k.Agent, k.Model = "", ""
		case "agent":
			k.Day, k.Model = "", ""
		case "model":
			k.Day, k.Agent = "", ""
		}
		i := slices.IndexFunc(out, func(x api.UsageRow) bool { return x.Day == k.Day && x.Agent == k.Agent && x.Model == k.Model })
		if i < 0 {
			out, i = append(out, k), len(out)
		}
		s := &out[i].UsageSum
		s.Calls, s.Input, s.Output, s.Cost = s.Calls+r.Calls, s.Input+r.Input, s.Output+r.Output, s.Cost+r.Cost
		s.CacheRead, s.CacheWrite = s.CacheRead+r.CacheRead, s.CacheWrite+r.CacheWrite
	}
	return out
}

// chart draws a bar for each day: money where there are prices, tokens otherwise.
func chart(p *page, u api.Usage) {
	days := summed(u.Days, "day")
	value := func(s api.UsageSum) (float64, string) {
		if u.Total.Cost > 0 {
			return float64(s.Cost), fmt.Sprintf("$%.2f", float64(s.Cost)/1e6)
		}
		return float64(s.Input + s.Output), short(s.Input + s.Output)
	}
	most := 0.0
	for _, d := range days {
		v, _ := value(d.UsageSum)
		most = max(most, v)
	}
	room := 40
	if p.width > 0 {
		room = max(min(p.width-len("2006-01-02  $1000.00")-1, 60), 4)
	}
	var b strings.Builder
	for _, d := range slices.Backward(days) {
		v, words := value(d.UsageSum)
		_, _ = fmt.Fprintf(&b, "%s %s %s\n", chatclient.OneLine(d.Day), p.paint(blue, bar(v, most, room)), words)
	}
	_, _ = io.WriteString(p.out, b.String()+"\n")
}
