package settings

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/policy"
	"parley/sessions"
	"parley/sessions/route"
	"parley/tools"
)

// OrDefault returns a number if it is positive, and otherwise the default.
func OrDefault(n, def int) int {
	if n > 0 {
		return n
	}
	return def
}

// AccountRef names one login on one channel kind.
type AccountRef struct {
	Channel channels.Kind
	Account channels.AccountID
}

// Ref gives the account that an address belongs to.
func Ref(a channels.Address) AccountRef { return AccountRef{Channel: a.Channel, Account: a.Account} }

// Snapshot are the parts of the configuration that the router obeys. They are replaced as a whole by Router.Apply and never
// changed in place.
type Snapshot struct {
	Session  sessions.Config
	Bindings []sessions.Binding
	Agents   agent.Config
	Model    string // provider/model used where no agent names one
	Tools    tools.Config
	Messages sessions.MessagesConfig
	Models   agent.Models  // budgets of the host
	Owners   policy.Owners // of the configuration; after Prepare those of Granted as well
	Unowned  bool          // the configuration names no owner and lets nobody in: the first person who is approved becomes the owner
	Granted  policy.Owners // those that the store has, see Router.LoadOwners
	Accounts map[AccountRef]Account
	Delivery Delivery

	Routes   route.Table
	Moved    *MovedChats // nil = no chat has moved
	Mentions map[sessions.AgentID][]*regexp.Regexp

	configured policy.Owners // Owners before the first Prepare
	prepared   bool
}

// Prepare derives what every event needs.
func (s *Snapshot) Prepare() *Snapshot {
	if !s.prepared {
		s.configured, s.prepared = s.Owners, true
	}
	s.Owners = slices.Concat(s.configured, s.Granted)
	ids, def := s.Agents.IDs()
	s.Routes = route.Table{Agents: ids, Default: def, Bindings: s.Bindings, Config: s.Session, Owners: s.Owners, Former: s.Moved.names}
	s.Mentions = make(map[sessions.AgentID][]*regexp.Regexp, len(ids))
	for _, id := range ids {
		e := s.Entry(id)
		patterns := e.GroupChat.MentionPatterns
		if len(patterns) == 0 {
			patterns = s.Messages.GroupChat.MentionPatterns
		}
		s.Mentions[id], _ = policy.Mentions(patterns, e.Name) // bad patterns are the configuration check's to report
	}
	return s
}

// Account holds the settings of an account's section that its adapter does not need.
type Account struct {
	Access    policy.Access
	Pacing    channels.Pacing
	Streaming channels.Streaming
	Chunk     int // longest message; 0 = the platform's limit
}

// Delivery is the section `delivery`.
type Delivery struct {
	Hold        bool // ambiguous sends wait for a person instead of being sent again
	ReplyTTL    time.Duration
	AnnounceTTL time.Duration
	CronTTL     time.Duration // how late a scheduled job may begin, and what it says may be
}

// JobTTL returns how late a scheduled job may begin.
func (d Delivery) JobTTL() time.Duration {
	if d.CronTTL > 0 {
		return d.CronTTL
	}
	return 6 * time.Hour
}

// TTL returns the time to live of a delivery of a kind: how long it may wait before it expires.
func (d Delivery) TTL(k sessions.DeliveryKind) time.Duration {
	switch {
	case k == sessions.Announce && d.AnnounceTTL > 0:
		return d.AnnounceTTL
	case k == sessions.Announce:
		return 24 * time.Hour
	case d.ReplyTTL > 0:
		return d.ReplyTTL
	}
	return time.Hour
}

// Visibility gives the rules of who sees which session (contract V).
func (s *Snapshot) Visibility() sessions.Rules {
	return sessions.Rules{Mode: string(s.Tools.Sessions.Visibility), Clamp: s.Agents.Defaults.Sandbox.SessionToolsVisibility,
		A2AEnabled: s.Tools.AgentToAgent.Enabled, A2AAllow: s.Tools.AgentToAgent.Allow}
}

// AllowAgents gives the agents that an agent may spawn besides itself (contract N3).
func (s *Snapshot) AllowAgents(id sessions.AgentID) []string {
	return s.Entry(id).Subagents.AllowAgents
}

// ModelOf gives the model that a session uses, provider/model.
func (s *Snapshot) ModelOf(x sessions.Session) string {
	return cmp.Or(x.Settings.Model, s.Entry(x.Agent).Model)
}

// Entry finds an agent's configuration, defaults filled in.
func (s *Snapshot) Entry(id sessions.AgentID) agent.Entry {
	e := agent.Entry{ID: id}
	for _, x := range s.Agents.List {
		if x.ID == id {
			e = x
			break
		}
	}
	if e.Instructions == "" {
		e.Instructions = s.Agents.Defaults.Instructions
	}
	if e.Model == "" {
		e.Model = s.Agents.Defaults.Model
	}
	if e.Model == "" {
		e.Model = s.Model
	}
	if len(e.Fallbacks) == 0 {
		e.Fallbacks = s.Agents.Defaults.Fallbacks
	}
	if e.Thinking == "" {
		e.Thinking = s.Agents.Defaults.Thinking
	}
	return e
}

// Timeout bounds a turn.
func (s *Snapshot) Timeout() time.Duration {
	if n := s.Agents.Defaults.TimeoutSeconds; n > 0 {
		return time.Duration(n) * time.Second
	}
	return 10 * time.Minute
}

// Sandboxed reports whether sessions of this key are confined (agents.defaults.sandbox.mode).
func (s *Snapshot) Sandboxed(k sessions.Key) bool {
	switch s.Agents.Defaults.Sandbox.Mode {
	case "all":
		return true
	case "non-main":
		return k.Kind() != sessions.KindMain
	}
	return false
}

// SendPolicyTo makes the policy check for a delivery or a hint (typing, draft) to an address.
func (s *Snapshot) SendPolicyTo(to channels.Address) func(sessions.Session) policy.Verdict {
	return func(x sessions.Session) policy.Verdict { return s.Session.SendPolicy.Evaluate(s.PolicySubject(x, to)) }
}

// MainKey is the main session of an agent.
func (s *Snapshot) MainKey(id sessions.AgentID) sessions.Key {
	if s.Session.Scope == sessions.Global {
		return sessions.GlobalKey
	}
	return sessions.MainKey(id)
}

// Key gives the session that an event would go to.
func (s *Snapshot) Key(in channels.Inbound) sessions.Key {
	key, _, _ := s.Routes.Key(s.Known(in))
	return key
}
