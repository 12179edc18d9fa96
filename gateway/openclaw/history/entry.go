package history

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// entry is what OpenClaw notes about a session, as far as parley reads it: a value of sessions.json, or the column entry_json.
// source: openclaw/openclaw src/config/sessions/types.ts (005a4316)
type entry struct {
	SessionID   string      `json:"sessionId"`
	SessionFile string      `json:"sessionFile"`
	UpdatedAt   json.Number `json:"updatedAt"`
	SpawnedBy   string      `json:"spawnedBy"`
	Thinking    string      `json:"thinkingLevel"`
	Provider    string      `json:"providerOverride"`
	Model       string      `json:"modelOverride"`
	ModelSource string      `json:"modelOverrideSource"` // auto = OpenClaw fell back for a while; nobody chose it
	Activation  string      `json:"groupActivation"`
	SendPolicy  string      `json:"sendPolicy"`
	QueueMode   string      `json:"queueMode"`
	Label       string      `json:"label"`
	DisplayName string      `json:"displayName"`
	Subject     string      `json:"subject"`
	LastChannel string      `json:"lastChannel"`
	LastTo      string      `json:"lastTo"`
	LastAccount string      `json:"lastAccountId"`
	LastThread  any         `json:"lastThreadId"`
	Channel     string      `json:"channel"` // of a group, in entries without lastChannel

	Family []string `json:"usageFamilySessionIds"` // ids before resets
}

// settings returns the overrides of a session.
func (h *History) settings(what string, e entry) (s sessions.Settings) {
	if s.SendPolicy = e.override(); s.SendPolicy == policy.Deny && e.SendPolicy != "deny" {
		h.report.Need(what, "its send policy cannot be read, so it is set to deny: check it with parley sessions show, and change it with parley sessions patch")
	}
	if e.Model != "" && e.ModelSource != "auto" {
		if s.Model = e.Model; e.Provider != "" {
			s.Model = e.Provider + "/" + e.Model
		}
		if !strings.Contains(s.Model, "/") {
			h.report.Leave(what+": model "+s.Model, "it names no provider: set it with parley sessions patch")
			s.Model = ""
		}
	}
	if slices.Contains([]string{"off", "minimal", "low", "medium", "high"}, e.Thinking) {
		s.Thinking = e.Thinking
	}
	if e.Activation == "mention" || e.Activation == "always" {
		s.Activation = e.Activation
	}
	if q := sessions.QueueMode(e.QueueMode); slices.Contains([]sessions.QueueMode{"collect", "followup", "steer", "interrupt"}, q) {
		s.Queue.Mode = q
	}
	return s
}

// unreadable is the send policy of an entry that cannot be read.
const unreadable = "?"

// override returns the session's send policy; deny for one that is not known.
func (e entry) override() policy.Override {
	switch e.SendPolicy {
	case "", "inherit":
		return policy.Inherit
	case "allow":
		return policy.Allow
	}
	return policy.Deny
}

// fullKey completes a key of 2025 with the channel that the entry names, in the store of an agent as well.
func (e entry) fullKey(raw string, chats IDs) string {
	head, rest := "", raw
	if p := strings.SplitN(raw, ":", 3); len(p) == 3 && strings.EqualFold(p[0], "agent") {
		head, rest = p[0]+":"+p[1]+":", p[2]
	}
	return head + legacyKey(rest, cmp.Or(e.LastChannel, e.Channel), chats)
}

// last returns the chat that last wrote: of a group the one that its key names, otherwise what the entry says.
func (h *History) last(k sessions.Key, e entry) channels.Address {
	p, err := k.Parse()
	if err == nil && (p.Form == sessions.FormGroup || p.Form == sessions.FormRoom) && h.ids.Has(p.Channel) {
		t := channels.Group
		if p.Form == sessions.FormRoom {
			t = channels.Room
		}
		return channels.Address{Channel: p.Channel, Account: p.Account, Chat: channels.ChatID(p.ID), Thread: p.Thread, Type: t}
	}
	kind := channels.Kind(strings.ToLower(e.LastChannel))
	if e.LastTo == "" || !h.ids.Has(kind) || strings.Contains(e.LastTo, "group:") || strings.Contains(e.LastTo, "channel:") || strings.HasSuffix(e.LastTo, "@g.us") {
		return channels.Address{}
	}
	a := channels.Address{Channel: kind, Account: channels.DefaultAccount, Chat: channels.ChatID(personID(h.ids, kind, e.LastTo)), Type: channels.Direct}
	if e.LastAccount != "" {
		a.Account = channels.AccountID(strings.ToLower(e.LastAccount))
	}
	return a
}

// sessionID keeps an id that is a UUID, and makes one otherwise.
func sessionID(id string, k sessions.Key) sessions.ID {
	if u, err := uuid.Parse(id); err == nil {
		return sessions.ID(u.String())
	}
	return sessions.ID(uuid.NewSHA1(space, []byte("session/"+string(k))).String())
}

// windowID is sessionID for a window: each window of a session has its own.
func windowID(id string, k sessions.Key) sessions.ID {
	if u, err := uuid.Parse(id); err == nil {
		return sessions.ID(u.String())
	}
	return sessions.ID(uuid.NewSHA1(space, []byte("window/"+string(k)+"/"+id)).String())
}

// titleOf returns the first text with something in it, in one line of at most 64 bytes.
func titleOf(texts ...string) string {
	for _, t := range texts {
		if t = strings.Join(strings.Fields(t), " "); t != "" {
			return strings.ToValidUTF8(t[:min(len(t), 64)], "")
		}
	}
	return ""
}

// topicOf returns the id of the thread that last wrote.
func (e entry) topicOf() string {
	if e.LastThread == nil {
		return ""
	}
	return fmt.Sprint(e.LastThread)
}
