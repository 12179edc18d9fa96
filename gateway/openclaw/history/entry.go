package history

import (
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

	Family []string `json:"usageFamilySessionIds"` // ids before resets
}

// settings returns the overrides of a session.
func (h *History) settings(what string, e entry) (s sessions.Settings) {
	if e.SendPolicy == "allow" || e.SendPolicy == "deny" {
		s.SendPolicy = policy.Override(e.SendPolicy)
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
