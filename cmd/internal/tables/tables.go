// Package tables has the two tables of the program: one names the channel kinds, with their pacing, the other the protocols of models.
// Nothing registers itself; what stands in neither does not exist. The packages below play every known behaviour of an
// endpoint against a whole host with these providers.
package tables

import (
	"cmp"
	"context"

	"parley/agent"
	"parley/agent/anthropic"
	"parley/agent/offline"
	"parley/agent/openai"
	"parley/agent/responses"
	"parley/channels"
	"parley/channels/discord"
	"parley/channels/telegram"
	"parley/channels/webchat"
	"parley/channels/whatsapp"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/models"
	"parley/policy"
)

// Adapters is the one table that names channel kinds.
func Adapters() []accounts.Adapter {
	return []accounts.Adapter{
		{
			Adapter: config.Adapter{Kind: webchat.Kind, Always: true, Access: &policy.Access{DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}, GroupPolicy: policy.GroupDisabled}},
			Open: func(a config.Account, e accounts.Env) (channels.Channel, error) {
				return webchat.New(webchat.Deps{Account: a.ID, Logger: e.Log}), nil
			},
		},
		{
			Adapter: config.Adapter{Kind: telegram.Kind, Person: telegram.Person, Chat: telegram.Chat, New: func() any { return &telegram.Config{} }, Pacing: channels.Pacing{PerSecond: 30, PerChatPerSecond: 1, PerGroupPerMinute: 20}},
			Open: func(a config.Account, e accounts.Env) (channels.Channel, error) {
				ch, err := telegram.New(*a.Adapter.(*telegram.Config), telegram.Deps{Account: a.ID, Logger: e.Log, Holds: e.Holds, Cursor: e.Cursor, Sent: e.Sent, Identified: e.Identified})
				if err != nil {
					return nil, err // not the nil pointer in an interface
				}
				return ch, nil
			},
			Platform:  func(a config.Account) string { return a.Adapter.(*telegram.Config).APIURL },
			StartLink: telegram.StartLink,
		},
		{
			Adapter: config.Adapter{Kind: discord.Kind, Person: discord.Person, Chat: discord.Chat, New: func() any { return &discord.Config{} }, Pacing: channels.Pacing{PerSecond: 40, PerChatPerSecond: 1}},
			Open: func(a config.Account, e accounts.Env) (channels.Channel, error) {
				ch, err := discord.New(*a.Adapter.(*discord.Config), discord.Deps{Account: a.ID, Logger: e.Log, Holds: e.Holds, Seen: e.Seen, Cursor: e.Cursor, Sent: e.Sent, Identified: e.Identified})
				if err != nil {
					return nil, err
				}
				return ch, nil
			},
			Platform: func(a config.Account) string { return a.Adapter.(*discord.Config).APIURL },
		},
		{
			Adapter: config.Adapter{Kind: whatsapp.Kind, Person: whatsapp.Person, Chat: whatsapp.Chat, New: func() any { return &whatsapp.Config{} }, Pacing: channels.Pacing{PerSecond: 1, PerChatPerSecond: 0.5, NewChatsPerDay: 20}},
			Open: func(a config.Account, e accounts.Env) (channels.Channel, error) {
				ch, err := whatsapp.New(*a.Adapter.(*whatsapp.Config), whatsapp.Deps{Account: a.ID, Logger: e.Log, Dir: e.Dir, Identified: e.Identified})
				if err != nil {
					return nil, err
				}
				return ch, nil
			},
			Platform: func(config.Account) string { return "https://web.whatsapp.com" },
		},
	}
}

// Providers is the one table that names model protocols.
func Providers() []models.Provider {
	return []models.Provider{
		{
			API:  "openai",
			Open: openOpenAI, List: listOpenAI,
		},
		{
			API:  agent.CompletionsAPI,
			Open: openOpenAI, List: listOpenAI,
		},
		{
			API:  agent.ResponsesAPI,
			Open: openOpenAI, List: listOpenAI,
		},
		{
			API: agent.AnthropicAPI,
			Open: func(name string, p agent.Provider, env models.ProviderEnv) (agent.Model, error) {
				return anthropic.New(anthropic.Config{Name: name, BaseURL: p.Address(), APIKey: p.APIKey, MaxTokens: p.MaxTokens, Deadlines: p.Deadlines(),
					Settings: p.Settings, Logger: env.Log, Lessons: env.Lessons, Fingerprint: env.Fingerprint}), nil
			},
		},
		{
			API:  agent.OfflineAPI,
			Open: func(string, agent.Provider, models.ProviderEnv) (agent.Model, error) { return offline.New(), nil },
		},
	}
}

// openOpenAI makes a provider of OpenAI's two protocols: Provider.Protocol says which one an address speaks.
func openOpenAI(name string, p agent.Provider, env models.ProviderEnv) (agent.Model, error) {
	if p.Protocol() == agent.ResponsesAPI {
		return responses.New(responses.Config{Name: name, BaseURL: p.Address(), APIKey: p.APIKey, MaxTokens: p.MaxTokens, Deadlines: p.Deadlines(),
			Settings: p.Settings, Logger: env.Log, Lessons: env.Lessons, Fingerprint: env.Fingerprint}), nil
	}
	return openai.New(openai.Config{Name: name, BaseURL: p.Address(), APIKey: p.APIKey, MaxTokens: p.MaxTokens, Deadlines: p.Deadlines(),
		Settings: p.Settings, Logger: env.Log, Lessons: env.Lessons, Fingerprint: env.Fingerprint}), nil
}

func listOpenAI(ctx context.Context, p agent.Provider) ([]string, error) {
	return openai.List(ctx, openai.Config{Name: cmp.Or(p.Address(), "openai"), BaseURL: p.Address(), APIKey: p.APIKey, Settings: p.Settings})
}
