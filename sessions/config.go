package sessions

import (
	"parley/channels"
	"parley/policy"
)

// Config is the section `session`.
type Config struct {
	Scope         Scope               `yaml:"scope" enum:"per-sender,global" default:"per-sender" doc:"per-sender: chats have sessions of their own. global: everything is one session. Changing it needs a restart."`
	DMScope       DMScope             `yaml:"dmScope" enum:"owner-main,main,per-peer,per-channel-peer,per-account-channel-peer" default:"owner-main" doc:"Which direct chats share a session. owner-main: the owners' direct chats share the main session, everybody else has one of their own."`
	IdentityLinks map[string][]string `yaml:"identityLinks" doc:"One person's ids on several channels: name: [telegram:1001, discord:77]."`
	SendPolicy    policy.SendPolicy   `yaml:"sendPolicy" doc:"What may leave, decided at delivery."`
	AgentToAgent  AgentToAgent        `yaml:"agentToAgent" doc:"Limits for messages between sessions."`
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
	MaxPingPongTurns int `yaml:"maxPingPongTurns" default:"5" min:"0" max:"5" doc:"Reply-back turns after a sessions_send, 0 to 5."`
	MaxHops          int `yaml:"maxHops" default:"4" min:"1" max:"32" doc:"Messages in a chain of sends: A → B → C is two."`
	MaxPerMinute     int `yaml:"maxPerMinute" default:"20" min:"1" max:"10000" doc:"Sends from one session to another in a minute."`
	MaxTurnsPerHour  int `yaml:"maxTurnsPerHour" default:"120" min:"1" max:"100000" doc:"Turns of one session that other agents cause within an hour."`
}

// Binding is an entry of `bindings`: which agent answers where (contract K10). All fields of Match that are set must match.
type Binding struct {
	AgentID AgentID      `yaml:"agentId" required:"true" doc:"The agent that answers."`
	Match   BindingMatch `yaml:"match" doc:"Where it answers."`
}

// BindingMatch says where a binding applies.
type BindingMatch struct {
	Channel   channels.Kind      `yaml:"channel" required:"true" doc:"Channel kind."`
	AccountID channels.AccountID `yaml:"accountId" doc:"Account; empty = the account default, \"*\" = any."`
	Peer      *Peer              `yaml:"peer" doc:"One chat or person."`
	GuildID   string             `yaml:"guildId" doc:"Discord guild."`
	Roles     []string           `yaml:"roles" doc:"Discord roles, any of them; only together with guildId."`
	TeamID    string             `yaml:"teamId" doc:"Team, where the platform has teams."`
}

// Peer is one chat or person.
type Peer struct {
	Kind channels.ChatType `yaml:"kind" enum:"direct,group,channel" required:"true" doc:"direct, group or channel."`
	ID   string            `yaml:"id" required:"true" doc:"The chat's id (for direct chats the person's), \"*\" = any."`
}
