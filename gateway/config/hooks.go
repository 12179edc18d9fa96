package config

import (
	"fmt"
	"slices"
	"strings"

	"parley/channels"
)

// hooks checks the section hooks.
func (k *checker) hooks() {
	c := k.config.Hooks
	for _, p := range c.Check() {
		k.wrong("hooks."+p.Path, p.Text, p.Hint)
	}
	if t := c.Token.Reveal(); t != "" && t == k.config.Gateway.Token.Reveal() {
		k.wrong("hooks.token", "is the same as gateway.token, so senders of hooks could do everything", "create another token with openssl rand -hex 20")
	}
	for i, t := range k.config.Gateway.Tokens {
		if s := c.Token.Reveal(); s != "" && s == t.Token.Reveal() {
			k.wrong("hooks.token", fmt.Sprintf("is the same as gateway.tokens[%d]", i), "create another token with openssl rand -hex 20")
		}
	}
	for i, id := range c.Agents {
		if id != "*" && !slices.Contains(agentIDs(k.config.Agents), id) {
			k.report(Warning, fmt.Sprintf("hooks.allowedAgents[%d]", i), "there is no agent "+quoted(id), choices("agents", id, agentIDs(k.config.Agents)))
		}
	}
	for i, m := range c.Mappings {
		at := fmt.Sprintf("hooks.mappings[%d].", i)
		if m.Agent != "" && !slices.Contains(agentIDs(k.config.Agents), m.Agent) {
			k.wrong(at+"agentId", "there is no agent "+quoted(m.Agent), choices("agents", m.Agent, agentIDs(k.config.Agents)))
		}
		k.model(at+"model", m.Model)
		if m.To != "" && m.To != "last" && !strings.Contains(m.To, "{{") {
			if _, err := channels.ParseAddress(m.To); err != nil {
				k.wrong(at+"to", err.Error(), "parley sessions list shows the addresses of chats")
			}
		}
	}
}
