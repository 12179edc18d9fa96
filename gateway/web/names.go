package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
)

// names are what people call sessions, chats and agents. The zero value makes words of the keys.
type names struct {
	sessions map[sessions.Key]api.Session
	labels   map[sessions.Key]string // of sub-agents whose sessions are gone
	tasks    map[sessions.Key]string // what sub-agents were asked
	chats    map[string]string       // titles, by address
	agents   map[sessions.AgentID]string
}

// namesRead is how many sessions, the newest, and how many runs of sub-agents are asked for their names.
const namesRead = 300

// names reads what the newest sessions are called, and takes those of more. What cannot be read has words made of its key.
func (s site) names(r *http.Request, more ...api.Session) names {
	agents, _ := call[[]api.Agent](s, r, "agents.list", &api.None{})
	rows, _ := call[[]api.Session](s, r, "sessions.list", &api.SessionsQuery{Limit: namesRead})
	return s.namesOf(r, append(rows, more...), agents)
}

// namesOf gives the names of sessions that were read already; what sub-agents without a label were asked it reads from their runs.
func (s site) namesOf(r *http.Request, rows []api.Session, agents []api.Agent) names {
	n := names{sessions: map[sessions.Key]api.Session{}, labels: map[sessions.Key]string{}, tasks: map[sessions.Key]string{}, chats: map[string]string{}, agents: map[sessions.AgentID]string{}}
	for _, a := range agents {
		n.agents[a.ID] = a.Name
	}
	bare := false
	for _, x := range rows {
		n.sessions[x.Key] = x
		if x.Title != "" && x.Last != "" {
			n.chats[x.Last] = x.Title
		}
		bare = bare || x.Label == "" && keyForm(x.Key) == sessions.FormSubagent
	}
	if !bare {
		return n
	}
	q := api.RunsQuery{Kind: sessions.ChildRun, Limit: namesRead}
	if len(rows) == 1 {
		q.Session = string(rows[0].Key)
	}
	if runs, err := call[[]api.Run](s, r, "runs.list", &q); err == nil {
		n.learn(runs)
	}
	return n
}

// learn takes what sub-agents were asked from their runs.
func (n names) learn(runs []api.Run) {
	for _, x := range runs { // newest first: what it was asked first stays
		if x.Kind == sessions.ChildRun {
			n.labels[x.Key], n.tasks[x.Key] = x.Label, plainLine(80, x.Request)
		}
	}
}

func keyForm(key sessions.Key) sessions.Form {
	p, err := key.Parse()
	if err != nil {
		return ""
	}
	return p.Form
}

// Agent is what people call an agent.
func (n names) Agent(id sessions.AgentID) string { return cmp.Or(n.agents[id], string(id)) }

// Of is what people call a session: its label, its title, or words.
func (n names) Of(key sessions.Key) string {
	x := n.sessions[key]
	return n.called(x.Label, x.Title, x.SpawnedBy, key)
}

// Ref is what people call a session that is named by key or id.
func (n names) Ref(text string) string {
	if _, err := sessions.Key(text).Parse(); err != nil && sessions.Key(text) != oneSession {
		return text
	}
	return n.Of(sessions.Key(text))
}

func (n names) called(label, title string, parent, key sessions.Key) string {
	if name := cmp.Or(label, title, n.labels[key]); name != "" {
		return name
	}
	if key == oneSession {
		return "Main session"
	}
	p, err := key.Parse()
	if err != nil {
		return string(key)
	}
	name := ""
	switch p.Form {
	case sessions.FormMain:
		name = "Main session of " + n.Agent(p.Agent)
	case sessions.FormSubagent:
		of := p.Agent
		if parent != "" {
			of = parent.Agent()
		}
		name = "Sub-agent of " + n.Agent(of)
		if task := n.tasks[key]; task != "" {
			name += ": " + task
		}
	case sessions.FormCron:
		name = "Job " + shortID(p.ID)
	case sessions.FormHook:
		name = "Hook " + shortID(p.ID)
	case sessions.FormNode:
		name = "Device " + shortID(p.ID)
	case sessions.FormOther:
		who, id, found := strings.Cut(p.ID, "/") // of a program: whose token, and what it calls the conversation
		name = fmt.Sprintf("%s of %s", throughWords(p.Channel), shortID(who))
		if !found {
			name = fmt.Sprintf("%s %s", p.Channel, shortID(who))
		} else if id = strings.Trim(id, "/"); id != "" {
			name += ": " + shortID(id)
		}
	case sessions.FormGroup, sessions.FormRoom:
		name = fmt.Sprintf("%s %s on %s", p.Form, p.ID, onAccount(p.Channel, p.Account))
	case sessions.FormPeer:
		name = p.ID
	case sessions.FormChannelPeer, sessions.FormAccountPeer:
		name = p.ID + " on " + onAccount(p.Channel, p.Account)
	default:
		name = string(key)
	}
	if p.Thread != "" {
		name += ", thread " + string(p.Thread)
	}
	return name
}

// throughWords says what kind of conversation a program outside holds.
func throughWords(c channels.Kind) string {
	return cmp.Or(map[channels.Kind]string{"openai": "OpenAI conversation", "mcp": "MCP conversation", "api": "API conversation"}[c], string(c)+" conversation")
}

// shortID is enough of a long id to tell it from others.
func shortID(id string) string {
	if len(id) == 36 && strings.Count(id, "-") == 4 {
		return id[:8]
	}
	return id
}

func onAccount(c channels.Kind, a channels.AccountID) string {
	if a == "" || a == channels.DefaultAccount {
		return string(c)
	}
	return fmt.Sprintf("%s (%s)", c, a)
}

// Chat is what people call a chat: its title, or words made of its address.
func (n names) Chat(a channels.Address) string {
	if title := n.chats[a.String()]; title != "" {
		return fmt.Sprintf("%s (%s)", title, onAccount(a.Channel, a.Account))
	}
	name := fmt.Sprintf("%s on %s", a.Chat, onAccount(a.Channel, a.Account))
	if a.Type.Several() {
		name = string(a.Type) + " " + name
	}
	if a.Thread != "" {
		name += ", thread " + string(a.Thread)
	}
	return name
}

// Place is what people call the chat of an address as text; what is no address stays as it is.
func (n names) Place(text string) string {
	a, err := channels.ParseAddress(text)
	if err != nil || a.IsZero() {
		return text
	}
	return n.Chat(a)
}

// oneSession is what the API calls the one session of session.scope global (contract K6).
var oneSession = sessions.GlobalKey.Shown()

// sessionKind says what a session is for, in a word or two.
func sessionKind(key sessions.Key) string {
	if key == oneSession {
		return "main"
	}
	p, err := key.Parse()
	if err != nil {
		return "other"
	}
	switch p.Form {
	case sessions.FormMain:
		if p.Thread != "" {
			return "thread"
		}
		return "main"
	case sessions.FormPeer, sessions.FormChannelPeer, sessions.FormAccountPeer:
		return "person"
	case sessions.FormGroup:
		return "group"
	case sessions.FormRoom:
		return "channel"
	case sessions.FormCron:
		return "job"
	case sessions.FormHook:
		return "hook"
	case sessions.FormNode:
		return "device"
	case sessions.FormSubagent:
		return "sub-agent"
	}
	return string(p.Channel) // openai, mcp, api and the like say it themselves
}

// kindsWords says the kinds of sessions.list for a filter.
func kindsWords(kind string) string {
	return cmp.Or(map[string]string{"group": "groups and channels", "cron": "jobs", "hook": "hooks", "node": "devices", "other": "all others"}[kind], kind)
}

// sentKind says what a delivery is.
func sentKind(k sessions.DeliveryKind) string {
	switch k {
	case sessions.Reply:
		return "answer"
	case sessions.Announce:
		return "announcement"
	case sessions.Notice:
		return "host notice"
	case sessions.Invite:
		return "pairing code"
	case sessions.Posted:
		return "message"
	}
	return string(k)
}
