package history

import (
	"strings"
	"testing"

	"parley/channels"
	"parley/gateway/openclaw/ids"
	"parley/sessions"
)

// plainIDs knows three channels and takes ids without the channel's name.
type plainIDs struct{}

func (plainIDs) Person(k channels.Kind, id string) (string, bool) {
	return strings.TrimPrefix(id, string(k)+":"), true
}
func (x plainIDs) Chat(k channels.Kind, id string) (string, bool) { return x.Person(k, id) }
func (plainIDs) Agent(name string) sessions.AgentID               { return ids.Agent(name) }
func (plainIDs) Has(k channels.Kind) bool {
	return k == "telegram" || k == "discord" || k == "whatsapp"
}

// Keys of newer and of older versions.
// source: openclaw/openclaw src/routing/session-key.ts (02df1c82), src/sessions/session-key-utils.ts (0000f0a9)
func TestKeyForms(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]sessions.Key{
		"agent:main:home":                        "agent:main:main",
		"agent:main:dashboard:abc":               "agent:main:dashboard:abc",
		"agent:main:explicit:garden plan":        "agent:main:explicit:garden%20plan",
		"agent:main:legacy-main-conflict-2":      "agent:main:legacy-main:2",
		"agent:main:main:heartbeat":              "",
		"agent:main:telegram:direct:1:heartbeat": "",
		"agent:main:telegram:direct:heartbeat":   "agent:main:telegram:direct:heartbeat",
		"agent:main:cron:heartbeat":              "agent:main:cron:heartbeat",
		"agent:main:telegram:group:-1:topic:7":   "agent:main:telegram:group:-1:topic:7",
		"agent:main:signal:group:AbC":            "agent:main:signal:group:AbC",
		"agent:main:telegram:work:direct:1":      "agent:main:telegram:work:direct:1",
		"agent:main:subagent:a:subagent:b":       sessions.SubagentKey("main", "b"),
		"agent:main:acp:x":                       "",
		"agent:main:telegram:slash:1":            "",
	} {
		m := keyFor(raw, "main", "home", plainIDs{})
		if m.key != want || (m.left == "") != (want != "") {
			t.Errorf("%s: %q (%s), want %q", raw, m.key, m.left, want)
		}
	}
	for _, row := range [][3]string{{"+4915112345", "", "whatsapp:direct:+4915112345"}, {"group:120@g.us", "", "whatsapp:group:120@g.us"}, {"group:-100", "telegram", "telegram:group:-100"},
		{"telegram:1001", "", "telegram:direct:1001"}, {"telegram:group:-1", "", "telegram:group:-1"}, {"main", "", "main"}, {"agent:main:main", "", "agent:main:main"}, {"cron:x", "", "cron:x"}} {
		if got := legacyKey(row[0], row[1], plainIDs{}); got != row[2] {
			t.Errorf("%s: %s, want %s", row[0], got, row[2])
		}
	}
}

// FuzzKey: whatever a key says, what is made of it is one of parley's, or none with a reason.
func FuzzKey(f *testing.F) {
	for _, s := range []string{"agent:main:main", "agent:A b:telegram:group:-1:topic:7", "main", "agent:x:cron:y:run:z", "a:b:c:dm:e", "subagent:x:subagent:y", ":::", "agent::telegram:dm:", "node-", "hook:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		m := keyFor(raw, "main", "main", plainIDs{})
		if (m.key == "") == (m.left == "") {
			t.Fatalf("%q: %+v", raw, m)
		}
		if m.key == "" {
			return
		}
		if _, err := m.key.Parse(); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
		if again := keyFor(raw, "main", "main", plainIDs{}); again != m {
			t.Errorf("%q: %+v and %+v", raw, m, again)
		}
	})
}
