package policy

import "parley/channels"

// SendPolicy is session.sendPolicy: what may leave.
type SendPolicy struct {
	Default Action     `yaml:"default" json:"default" enum:"allow,deny" default:"allow" doc:"Action when no rule matches."`
	Rules   []SendRule `yaml:"rules" json:"rules" doc:"Rules. A matching deny overrides a matching allow; the order does not matter."`
}

// SendRule is one rule: all fields of Match that are set must match.
type SendRule struct {
	Match  SendMatch `yaml:"match" json:"match" doc:"Conditions of the rule; an empty match applies to everything."`
	Action Action    `yaml:"action" json:"action" enum:"allow,deny" required:"true" doc:"Action when the rule matches: allow or deny."`
}

// SendMatch says which deliveries a rule applies to (contract P1).
type SendMatch struct {
	Channel      channels.Kind      `yaml:"channel,omitempty" json:"channel,omitempty" doc:"Channel kind, for example telegram."`
	ChatType     channels.ChatType  `yaml:"chatType,omitempty" json:"chatType,omitempty" enum:"direct,group,channel" doc:"Kind of chat: direct, group (any chat of several people) or channel (rooms only)."`
	KeyPrefix    string             `yaml:"keyPrefix,omitempty" json:"keyPrefix,omitempty" doc:"Prefix of the session key, with or without agent:<id>: and the account of its channel."`
	RawKeyPrefix string             `yaml:"rawKeyPrefix,omitempty" json:"rawKeyPrefix,omitempty" doc:"Prefix of the whole session key."`
	AccountID    channels.AccountID `yaml:"accountId,omitempty" json:"accountId,omitempty" doc:"Account of the channel."`
	To           string             `yaml:"to,omitempty" json:"to,omitempty" doc:"Chat: its id, or the whole address as parley policy explain prints it."`
}

// DMPolicy says who may write to the bot directly.
type DMPolicy string

// GroupPolicy says in which groups the bot listens.
type GroupPolicy string

// The policies.
const (
	DMPairing      DMPolicy    = "pairing"   // strangers get a code, once; an owner lets them in
	DMAllowlist    DMPolicy    = "allowlist" // only allowFrom (and who was paired)
	DMOpen         DMPolicy    = "open"      // everybody; allowFrom must contain "*"
	DMDisabled     DMPolicy    = "disabled"
	GroupAllowlist GroupPolicy = "allowlist" // only listed groups or senders
	GroupOpen      GroupPolicy = "open"
	GroupDisabled  GroupPolicy = "disabled"
)

// Access says who may cause runs on one account.
type Access struct {
	DMPolicy       DMPolicy               `yaml:"dmPolicy" json:"dmPolicy" enum:"pairing,allowlist,open,disabled" default:"pairing" doc:"People who may write to the bot in direct chats; owners always may. pairing: people in allowFrom, and strangers get a code that an owner approves. allowlist: people in allowFrom. open: everybody. disabled: no other person."`
	AllowFrom      []string               `yaml:"allowFrom" json:"allowFrom" doc:"People who may write in direct chats: ids as /whoami shows them (WhatsApp: a phone number with its country code; Discord: a number of 17 to 20 digits; Telegram: a number), or @usernames where the platform has them. \"*\" = everybody; dmPolicy open requires it."`
	GroupPolicy    GroupPolicy            `yaml:"groupPolicy" json:"groupPolicy" enum:"allowlist,open,disabled" default:"allowlist" doc:"Senders to whom the bot listens in groups. allowlist: those in allowFrom of the group, else in groupAllowFrom, else in allowFrom; if all three are empty, all senders in a group that is listed by its id. open: all senders. disabled: none."`
	GroupAllowFrom []string               `yaml:"groupAllowFrom" json:"groupAllowFrom" doc:"With groupPolicy allowlist: senders who may use the bot in groups; empty = allowFrom."`
	Groups         map[string]GroupAccess `yaml:"groups" json:"groups" doc:"Groups by chat id (WhatsApp: …@g.us; Discord: the channel's number; Telegram: a number below zero), or \"*\" for all others. If this key lists any group, the bot ignores groups that are not listed."`
	AllowBots      bool                   `yaml:"allowBots" json:"allowBots" doc:"true: messages of other bots can start turns."`
}

// GroupAccess is one group.
type GroupAccess struct {
	Enabled        *bool                  `yaml:"enabled" json:"enabled,omitempty" doc:"false: the bot ignores the group."`
	RequireMention *bool                  `yaml:"requireMention" json:"requireMention,omitempty" doc:"true (default): the bot answers only when a message mentions it or replies to it."`
	AllowFrom      []string               `yaml:"allowFrom" json:"allowFrom,omitempty" doc:"Senders who may use the bot in this group; empty = groupAllowFrom."`
	SystemPrompt   string                 `yaml:"systemPrompt" json:"systemPrompt,omitempty" doc:"More instructions for agents in this group."`
	Tools          Rights                 `yaml:"tools" json:"tools,omitzero" doc:"Tools in this group, within the limits of the section tools."`
	ToolsBySender  map[string]Rights      `yaml:"toolsBySender" json:"toolsBySender,omitempty" doc:"Tools by sender: an id, an @username or \"*\". A turn that answers several people has only the tools that all of them have."`
	Topics         map[string]GroupAccess `yaml:"topics" json:"topics,omitempty" doc:"Settings of single topics, by thread id."`
}
