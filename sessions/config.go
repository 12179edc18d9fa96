package sessions

import (
	"parley/channels"
	"parley/policy"
)

// Config is the section `session`.
type Config struct {
	Scope         Scope               `yaml:"scope" enum:"per-sender,global" default:"per-sender" doc:"per-sender: each chat has its own session. global: all chats share one session. A change needs a restart."`
	DMScope       DMScope             `yaml:"dmScope" enum:"owner-main,main,per-peer,per-channel-peer,per-account-channel-peer" default:"owner-main" doc:"Direct chats that share a session. owner-main: the owners' chats share the main session, other people have their own. main: all share the main session. per-peer: one session for a person, on all channels. per-channel-peer: one for a person and channel. per-account-channel-peer: one for a person, channel and account."`
	IdentityLinks map[string][]string `yaml:"identityLinks" doc:"One person's ids on several channels: name: [telegram:1001, discord:77]."`
	SendPolicy    policy.SendPolicy   `yaml:"sendPolicy" doc:"Send policy: messages that may leave the host, decided at delivery."`
	AgentToAgent  AgentToAgent        `yaml:"agentToAgent" doc:"Limits for messages between sessions."`

	Reset          ResetRule                   `yaml:"reset" doc:"When a session restarts automatically. Its settings stay, and the old transcript stays readable."`
	ResetByType    map[string]ResetRule        `yaml:"resetByType" doc:"Resets by kind of chat: direct, group, thread; replaces reset for that kind."`
	ResetByChannel map[channels.Kind]ResetRule `yaml:"resetByChannel" doc:"Resets by channel; replaces reset and resetByType for that channel."`
}

// ResetRule says when a session starts over: looked at when somebody writes and nothing is running.
type ResetRule struct {
	Mode        string `yaml:"mode" enum:"none,daily,idle" default:"none" doc:"When the session restarts: none (never), daily (at atHour), idle (after idleMinutes without a message)."`
	AtHour      int    `yaml:"atHour" default:"4" min:"0" max:"23" doc:"Hour of a daily restart, in the host's time zone."`
	IdleMinutes int    `yaml:"idleMinutes" min:"0" max:"5256000" doc:"Minutes without a message; with daily, the earlier of the two counts. 0 = 60 with idle, unused with daily."`
}

// MessagesConfig is the section `messages`.
type MessagesConfig struct {
	Queue               QueueConfig   `yaml:"queue" doc:"Messages that arrive while the agent works on a turn."`
	GroupChat           GroupMessages `yaml:"groupChat" doc:"Messages in groups."`
	AckReaction         string        `yaml:"ackReaction" doc:"Emoji reaction that acknowledges a message, for example 👀; empty = none."`
	AckReactionScope    string        `yaml:"ackReactionScope" enum:"group-mentions,group-all,direct,all" default:"group-mentions" doc:"Messages that get the reaction: in groups that need a mention, in all groups, in direct chats, in all chats."`
	StopWords           StopWords     `yaml:"stopWords" doc:"Words that mean /stop while a turn runs: a message that consists of one of them alone. Punctuation, emoji and letter case do not count."`
	RemoveAckAfterReply bool          `yaml:"removeAckAfterReply" default:"false" doc:"true: remove the reaction when the answer is sent."`
}

// StopWords is messages.stopWords.
type StopWords struct {
	Languages []string `yaml:"languages" doc:"Languages whose usual stop words count: de, en, es, fr, it, ja, ko, pt, ru, zh. Without this key all of them; with an empty list none."`
	Words     []string `yaml:"words" doc:"More stop words."`
}

// The scopes of messages.ackReactionScope.
const (
	AckMentions = "group-mentions"
	AckGroups   = "group-all"
	AckDirect   = "direct"
	AckAll      = "all"
)

// QueueConfig is messages.queue.
type QueueConfig struct {
	Queue     `yaml:",inline"`
	ByChannel map[channels.Kind]Queue `yaml:"byChannel" doc:"Settings by channel; an empty value is inherited."`
}

// Queue says what happens to messages while a turn is running. Empty fields inherit.
type Queue struct {
	Mode       QueueMode `yaml:"mode" json:"mode,omitempty" enum:"collect,followup,steer,interrupt" doc:"collect: one turn for all waiting messages (default). followup: one turn for each. steer: the running turn reads them at its next step. interrupt: the running turn ends, and the newest message starts one."`
	DebounceMs *int      `yaml:"debounceMs" json:"debounceMs,omitempty" min:"0" max:"60000" doc:"Quiet time before a collected turn starts, in milliseconds; default 1000."`
	Cap        int       `yaml:"cap" json:"cap,omitempty" min:"0" max:"1000" doc:"Maximum number of messages of one chat that wait in a session; default 20."`
	Drop       DropRule  `yaml:"drop" json:"drop,omitempty" enum:"summarize,old,new" doc:"Action above the cap. summarize: the host cuts older messages to one line each (default). old: the host drops the oldest. new: the host refuses the newest. With old and new, the host tells the chat, once until the next turn."`
}

// QueueMode is messages.queue.mode.
type QueueMode string

// The modes.
const (
	Collect   QueueMode = "collect"
	Followup  QueueMode = "followup"
	Steer     QueueMode = "steer"
	Interrupt QueueMode = "interrupt"
)

// HoldsBack reports whether a message that waits is held back for those that may follow it.
func (m QueueMode) HoldsBack() bool { return m == Collect || m == Steer }

// DropRule is messages.queue.drop.
type DropRule string

// The rules.
const (
	DropSummarize DropRule = "summarize"
	DropOld       DropRule = "old"
	DropNew       DropRule = "new"
)

// GroupMessages is messages.groupChat.
type GroupMessages struct {
	MentionPatterns []string `yaml:"mentionPatterns" doc:"Regular expressions that count as a mention of an agent without its own patterns; without any, the agent's name counts."`
	HistoryLimit    *int     `yaml:"historyLimit" min:"0" max:"1000" doc:"Group messages without a mention that the next turn shows as context; 0 = none; default 50."`
	MaxBotTurns     int      `yaml:"maxBotTurns" default:"4" min:"0" max:"1000" doc:"Turns in a row that other bots may start, without a person in between; 0 = none."`
}

// Scope is session.scope.
type Scope string

// DMScope is session.dmScope (contract K7).
type DMScope string

// The scopes.
const (
	PerSender             Scope   = "per-sender"
	Global                Scope   = "global"
	OwnerMain             DMScope = "owner-main"
	DMMain                DMScope = "main"
	PerPeer               DMScope = "per-peer"
	PerChannelPeer        DMScope = "per-channel-peer"
	PerAccountChannelPeer DMScope = "per-account-channel-peer"
)

// AgentToAgent bounds messages between sessions.
type AgentToAgent struct {
	MaxPingPongTurns int  `yaml:"maxPingPongTurns" default:"5" min:"0" max:"5" doc:"Maximum number of reply turns after a sessions_send."`
	FollowUp         bool `yaml:"followUp" default:"true" doc:"true: the agent that asked tells its chat about a reply or a failure that arrived after its sessions_send returned."`
	MaxHops          int  `yaml:"maxHops" default:"4" min:"1" max:"32" doc:"Maximum number of messages in a chain of sends: A → B → C is two."`
	MaxPerMinute     int  `yaml:"maxPerMinute" default:"20" min:"1" max:"10000" doc:"Maximum number of sends from one session to another in a minute."`
	MaxTurnsPerHour  int  `yaml:"maxTurnsPerHour" default:"120" min:"1" max:"100000" doc:"Maximum number of turns that other agents may start in one session in an hour."`
}

// Binding is an entry of `bindings`: which agent answers where (contract K10). All fields of Match that are set must match.
type Binding struct {
	AgentID AgentID      `yaml:"agentId" required:"true" doc:"Id of the agent that answers."`
	Match   BindingMatch `yaml:"match" doc:"Chats in which the agent answers."`
}

// BindingMatch says where a binding applies.
type BindingMatch struct {
	Channel   channels.Kind      `yaml:"channel" required:"true" doc:"Channel kind, for example telegram."`
	AccountID channels.AccountID `yaml:"accountId" doc:"Account of the channel; empty = the account named default, \"*\" = any."`
	Peer      *Peer              `yaml:"peer" doc:"One chat, or one person."`
	GuildID   string             `yaml:"guildId" doc:"Id of a Discord server (guild)."`
	Roles     []string           `yaml:"roles" doc:"Ids of Discord roles; one of them is enough. Requires guildId."`
	TeamID    string             `yaml:"teamId" doc:"Id of a team, on platforms that have teams."`
}

// Peer is one chat or person.
type Peer struct {
	Kind channels.ChatType `yaml:"kind" enum:"direct,group,channel" required:"true" doc:"Kind of chat: direct, group or channel."`
	ID   string            `yaml:"id" required:"true" doc:"The chat's id (for direct chats the person's), \"*\" = any."`
}
