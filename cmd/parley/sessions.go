package main

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"parley/channels"
	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/sessions"
)

type sessionsCmd struct {
	List    sessionsListCmd    `cmd:"" default:"withargs" help:"List sessions, newest first (the default)."`
	Show    sessionsShowCmd    `cmd:"" help:"Show a session: its settings, its figures, and the verdict of the send policy."`
	History sessionsHistoryCmd `cmd:"" help:"Print the messages of a session."`
	Search  sessionsSearchCmd  `cmd:"" help:"Find messages by words."`
	Patch   sessionsPatchCmd   `cmd:"" help:"Change a session's settings."`
	Reset   sessionsResetCmd   `cmd:"" help:"Start a session over; its settings and its old transcript stay."`
	Archive sessionsArchiveCmd `cmd:"" help:"Archive a session; its next message restores it."`
	Delete  sessionsDeleteCmd  `cmd:"" help:"Delete a session with its transcript."`
	Compact sessionsCompactCmd `cmd:"" help:"Summarize the older part of a session now."`
}

type sessionsListCmd struct {
	Search    string `help:"List only sessions with this text in the key, title or label." placeholder:"TEXT"`
	Agent     string `help:"Only of this agent." placeholder:"AGENT"`
	Kind      string `enum:"main,group,cron,hook,node,other," default:"" help:"List only sessions of this kind: main, group, cron, hook, node or other." placeholder:"KIND"`
	SpawnedBy string `help:"List only sub-agents of this session." placeholder:"SESSION"`
	Active    int    `help:"List only sessions that were active in the last MINUTES minutes." placeholder:"MINUTES"`
	Archived  bool   `help:"List only archived sessions."`
	Limit     int    `default:"50" help:"At most this many."`
	asJSON
}

// Help shows examples.
func (sessionsListCmd) Help() string {
	return "Examples:\n\n  parley sessions list --active 60\n  parley sessions list --search garden --json\n  parley sessions list --spawned-by main"
}

func (c sessionsListCmd) Run(e *env) error {
	by, err := optionalSession(e, c.SpawnedBy)
	if err != nil {
		return err
	}
	q := api.SessionsQuery{Search: c.Search, Agent: c.Agent, Kind: c.Kind, SpawnedBy: by, Minutes: c.Active, Archived: c.Archived, Limit: c.Limit}
	rows, err := request[[]api.Session](e, "GET /api/sessions", q)
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, rows, func(p *page, rows []api.Session) {
		printSessions(p, rows, nothing("sessions", q != api.SessionsQuery{Limit: q.Limit}))
	})
}

// policyOf says whether what a session says leaves, and in a word what decides. Without a chat of its own there is nothing to decide yet.
func policyOf(r api.Session) string {
	switch {
	case r.SendPolicy != "":
		return string(r.SendPolicy) + " (its own)"
	case r.Verdict.Action == "":
		return "inherit"
	case r.Verdict.Allowed():
		return "allow"
	}
	return string(r.Verdict.Action) + " (" + strings.TrimPrefix(r.Verdict.Rule, "session.sendPolicy.") + ")"
}

func printSessions(p *page, rows []api.Session, empty string) {
	g := p.grid("KEY", "KIND", "~NAME", "TOKENS", "COST", "POLICY", "STATE", "ACTIVE")
	for _, r := range rows {
		state := ""
		switch {
		case r.Working:
			state = "running"
		case r.Archived:
			state = "archived"
		}
		g.row(r.Key, kindOf(r), nameOf(r), short(r.Tokens), cost(r.Cost), policyOf(r), state, p.ago(r.Updated))
	}
	g.print(empty)
}

type sessionArg struct {
	Session string `arg:"" help:"Key, id, main, or a unique part of the title or label."`
}

type sessionsShowCmd struct {
	sessionArg
	asJSON
}

func (c sessionsShowCmd) Run(e *env) error {
	key, err := pick(e, c.Session, false)
	if err != nil {
		return err
	}
	s, err := request[api.SessionDetail](e, "GET /api/sessions/{session}", api.SessionCall{Session: key})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, s, printSession)
}

func printSession(p *page, s api.SessionDetail) {
	p.painted(bold, string(s.Key))
	line := func(name, value string) {
		if value != "" {
			p.detail(plain, fmt.Sprintf("%-12s %s", name, value))
		}
	}
	line("title", inQuotes(s.Title))
	line("label", inQuotes(s.Label))
	line("kind", string(s.Kind)+", agent "+string(s.Agent))
	line("id", string(s.ID))
	line("chat", s.Last)
	line("started by", string(s.SpawnedBy))
	verdict := "send policy " + cmp.Or(string(s.SendPolicy), "inherit")
	if s.Verdict.Action != "" {
		verdict += " → " + string(s.Verdict.Action) + " (" + s.Verdict.Rule + ")"
	}
	line("policy", verdict)
	line("model", cmp.Or(s.ModelUsed, s.Model)+map[bool]string{true: " (its own)"}[s.Model != ""])
	for _, x := range [][2]string{{"thinking", s.Thinking}, {"verbose", s.Verbose}, {"activation", s.Activation}, {"footer", s.Footer}, {"queue", s.Queue}} {
		line(x[0], x[1])
	}
	fill := short(s.Context)
	if s.Window > 0 {
		fill += " of " + short(s.Window)
	}
	line("tokens", short(s.Tokens)+", "+fill+" in the window")
	line("cost", cost(s.Cost))
	switch {
	case s.Working:
		line("state", "running")
	case s.Archived:
		line("state", "archived")
	}
	if s.Waiting > 0 {
		line("waiting", channels.Plural(s.Waiting, "run"))
	}
	line("active", p.ago(s.Updated))
	if !s.Created.IsZero() {
		line("created", p.ago(s.Created))
	}
	if !s.ArchiveAt.IsZero() {
		line("archived at", p.ago(s.ArchiveAt))
	}
	line("transcript", s.Transcript)
}

type sessionsHistoryCmd struct {
	sessionArg
	Tools  bool   `help:"Print tool calls and their results, too."`
	Before int64  `help:"Print only messages before this sequence number (the page before)." placeholder:"SEQ"`
	ID     string `name:"session-id" help:"Id of an earlier transcript of the session." placeholder:"ID"`
	Limit  int    `default:"20" help:"Maximum number of messages; the newest are printed."`
	asJSON
}

// Help shows examples.
func (sessionsHistoryCmd) Help() string {
	return "Examples:\n\n  parley sessions history main\n  parley sessions history garden --limit 5 --tools\n  parley sessions history main --json | jq -r '.messages[].content[].text'"
}

func (c sessionsHistoryCmd) Run(e *env) error {
	key, err := pick(e, c.Session, false)
	if err != nil {
		return err
	}
	h, err := request[api.History](e, "GET /api/sessions/{session}/messages", api.HistoryQuery{Session: key, Tools: c.Tools, Before: c.Before, SessionID: c.ID, Limit: c.Limit})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, h, func(p *page, h api.History) { printHistory(p, h, c.Tools) })
}

func printHistory(p *page, h api.History, calls bool) {
	if len(h.Messages) == 0 {
		p.note("%s has no messages yet.\n", h.Key)
	}
	if h.More {
		p.note("… for older messages, use --before %d\n\n", h.Messages[0].Seq)
	}
	for _, m := range h.Messages {
		printMessage(p, m, calls)
	}
}

func printMessage(p *page, m sessions.Message, calls bool) {
	who, paint := string(m.Role), green
	switch m.Role {
	case sessions.User:
		who, paint = "user", blue
		if v := m.Provenance; v != nil {
			who = "user " + speakerOf(*v)
		}
	case sessions.Assistant:
		who = strings.TrimSpace("agent " + m.Model)
	case sessions.ToolResult:
		who, paint = "tool "+m.ToolName, faint
	}
	p.painted(paint, cut(chatclient.OneLine(who)+" · "+p.ago(m.Time), p.width))
	if text := strings.TrimSpace(m.Said()); text != "" {
		p.body(text)
	}
	for _, b := range m.Content {
		if b.Media != nil {
			p.detail(plain, "["+cmp.Or(b.Media.Name, b.Type)+"]")
		}
	}
	if calls {
		for _, b := range m.ToolCalls() {
			p.detail(faint, "→ "+b.Name+" "+string(b.Arguments))
		}
	}
	if m.Error != "" {
		p.detail(red, m.Error)
	}
	switch {
	case m.IsRefusal():
		p.detail(yellow, "("+sessions.RefusedMark+")")
	case m.LeftOut() != "":
		p.detail(yellow, "("+fmt.Sprintf(sessions.LeftOutMark, m.LeftOut())+")")
	case m.WithoutHistory():
		p.detail(yellow, "("+sessions.WithoutHistoryMark+")")
	}
	for _, d := range m.Deliveries() {
		if d.State != sessions.Sent {
			p.detail(yellow, strings.TrimSpace("["+string(d.State)+" to "+d.To+"] "+chatclient.OneLine(cmp.Or(d.Error, d.Rule))))
		}
	}
	p.printf("\n")
}

// speakerOf names who sent a message by what the platform vouches for, the id, and by the name that the person chose.
func speakerOf(v sessions.Provenance) string {
	id := cmp.Or(v.Sender, string(v.Source))
	name := inQuotes(cut(chatclient.OneLine(cmp.Or(v.Name, v.User)), maxName))
	return cmp.Or(strings.TrimSpace(id+" "+name), v.Kind)
}

// maxName is how many columns of a name that somebody chose are shown.
const maxName = 40

type sessionsSearchCmd struct {
	Text    string `arg:"" help:"Words to search for."`
	Session string `help:"Search only this session." placeholder:"SESSION"`
	Agent   string `help:"Only of this agent." placeholder:"AGENT"`
	Limit   int    `default:"20" help:"At most this many."`
	asJSON
}

func (c sessionsSearchCmd) Run(e *env) error {
	key, err := optionalSession(e, c.Session)
	if err != nil {
		return err
	}
	hits, err := request[[]api.Hit](e, "GET /api/search", api.SearchQuery{Text: c.Text, Session: key, Agent: c.Agent, Limit: c.Limit})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, hits, func(p *page, hits []api.Hit) {
		g := p.grid("SESSION", "WHO", "WHEN", "~TEXT")
		for _, h := range hits {
			g.row(h.Key, h.Role, p.ago(h.Time.Time), h.Snippet)
		}
		g.print("Nothing was found.")
	})
}

type sessionsPatchCmd struct {
	sessionArg
	SendPolicy string `enum:"allow,deny,inherit," default:"" help:"Send policy: allow, deny or inherit." placeholder:"POLICY"`
	Model      string `help:"Model, as provider/model; none clears." placeholder:"MODEL"`
	Thinking   string `enum:"off,minimal,low,medium,high,none," default:"" help:"Thinking level: off, minimal, low, medium or high; none clears." placeholder:"LEVEL"`
	Verbose    string `enum:"off,on,full,none," default:"" help:"Verbosity: off, on or full; none clears." placeholder:"LEVEL"`
	Activation string `enum:"mention,always,none," default:"" help:"Group messages that the agent answers: mention or always; none clears." placeholder:"WHEN"`
	Footer     string `enum:"tokens,full,none," default:"" help:"Footer of answers: tokens or full; none clears." placeholder:"WHAT"`
	Queue      string `help:"Handling of messages during a turn, with the words of /queue: 'steer debounce:2s'; none clears." placeholder:"WORDS"`
	Label      string `help:"Label; none clears." placeholder:"TEXT"`
	asJSON
}

// Help shows examples.
func (sessionsPatchCmd) Help() string {
	return "Examples:\n\n  parley sessions patch main --send-policy deny\n  parley sessions patch garden --model openai/gpt-5 --thinking low\n  parley sessions patch garden --queue 'steer debounce:2s'\n  parley sessions patch main --label none"
}

func (c sessionsPatchCmd) Run(e *env) error {
	q := api.SessionPatch{SendPolicy: setting(c.SendPolicy, "inherit"), Model: setting(c.Model, "none"), Thinking: setting(c.Thinking, "none"), Verbose: setting(c.Verbose, "none"),
		Activation: setting(c.Activation, "none"), Footer: setting(c.Footer, "none"), Queue: setting(c.Queue, "none"), Label: setting(c.Label, "none")}
	if q == (api.SessionPatch{}) {
		return misuse("nothing to change: name --send-policy, --model, --thinking, --verbose, --activation, --footer, --queue or --label")
	}
	var err error
	if q.Session, err = pick(e, c.Session, false); err != nil {
		return err
	}
	row, err := request[api.SessionDetail](e, "PATCH /api/sessions/{session}", q)
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, row, func(p *page, r api.SessionDetail) {
		p.note("%s: %s\n", r.Key, c.changed(r))
	})
}

// changed lists the settings that the command was to change, as they are now.
func (c sessionsPatchCmd) changed(s api.SessionDetail) string {
	var all []string
	for _, x := range []struct{ flag, name, value, without string }{
		{c.SendPolicy, "send policy", string(s.SendPolicy), "inherit"}, {c.Model, "model", s.Model, "the agent's"}, {c.Thinking, "thinking", s.Thinking, "as configured"},
		{c.Verbose, "verbose", s.Verbose, "as configured"}, {c.Activation, "activation", s.Activation, "as configured"}, {c.Footer, "footer", s.Footer, "none"},
		{c.Queue, "queue", s.Queue, "as configured"}, {c.Label, "label", chatclient.OneLine(s.Label), "none"},
	} {
		if x.flag != "" {
			all = append(all, x.name+" "+cmp.Or(x.value, x.without))
		}
	}
	return strings.Join(all, ", ")
}

// setting is a flag as a patch has it: empty stays, clear clears.
func setting(v, clear string) (o api.Optional[string]) {
	switch v {
	case "":
		return o
	case clear:
		return api.Clear[string]()
	}
	return api.Some(v)
}

type sessionsResetCmd struct {
	sessionArg
	asJSON
}

func (c sessionsResetCmd) Run(e *env) error {
	key, err := pick(e, c.Session, false)
	if err != nil {
		return err
	}
	s, err := request[api.StartedOver](e, "POST /api/sessions/{session}/reset", api.SessionCall{Session: key})
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, s, func(p *page, s api.StartedOver) {
		stopped := ""
		if n := len(s.Stopped); n > 0 {
			stopped = fmt.Sprintf(" Stopped runs, sub-agents included: %d.", n)
		}
		p.note("%s starts over; its settings stay.%s\n", s.Key, stopped)
	})
}

type sessionsArchiveCmd struct {
	sessionArg
	asJSON
}

func (c sessionsArchiveCmd) Run(e *env) error {
	return onSession(e, c.Session, "POST /api/sessions/{session}/archive", c.asJSON, "%s is archived (parley sessions list --archived shows it).\n")
}

// onSession does what answers with the session's row.
func onSession(e *env, name, route string, j asJSON, done string) error {
	key, err := pick(e, name, false)
	if err != nil {
		return err
	}
	row, err := request[api.Session](e, route, api.SessionCall{Session: key})
	if err != nil {
		return err
	}
	return tell(e, j, row, func(p *page, r api.Session) { p.note(done, r.Key) })
}

type sessionsDeleteCmd struct {
	sessionArg
	Yes bool `short:"y" help:"Do not ask for confirmation."`
	asJSON
}

func (c sessionsDeleteCmd) Run(e *env) error {
	key, err := pick(e, c.Session, false)
	if err != nil {
		return err
	}
	if err := e.confirm(c.Yes, "Delete %s with its transcript?", key); err != nil {
		return err
	}
	d, err := requestOnce[api.Deleted](e, "DELETE /api/sessions/{session}", api.SessionCall{Session: key}, "", time.Minute) // what is at work there is stopped first
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, d, func(p *page, d api.Deleted) { p.note("%s is deleted.\n", d.Key) })
}

type sessionsCompactCmd struct {
	sessionArg
	Instructions string `arg:"" optional:"" help:"Instructions for the summary."`
	asJSON
}

func (c sessionsCompactCmd) Run(e *env) error {
	key, err := pick(e, c.Session, false)
	if err != nil {
		return err
	}
	said, err := request[api.Said](e, "POST /api/sessions/{session}/compact", api.CompactCall{Session: key, Instructions: c.Instructions})
	if err != nil {
		return err
	}
	if said.Run == "" {
		return tell(e, c.asJSON, said, func(p *page, s api.Said) { p.answer(cmp.Or(s.Answer, "There is nothing to summarize.")) })
	}
	return waitAndTell(e, said.Run, 10*time.Minute, c.asJSON)
}
