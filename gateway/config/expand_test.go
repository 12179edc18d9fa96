package config

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	getenv := env("A", "one", "B", "two", "EMPTY", "", "REF", "${A}")
	for _, x := range []struct {
		in, want string
		missing  string
		broken   bool
	}{
		{"plain", "plain", "", false},
		{"$A", "$A", "", false},
		{"${A}", "one", "", false},
		{"x${A}y${B}z", "xoneytwoz", "", false},
		{"${EMPTY:-d}", "d", "", false},
		{"${NO:-a: b, {c", "a: b, {c", "", true}, // the } is missing
		{"${NO:-}", "", "", false},
		{"${NO:-x:-y}", "x:-y", "", false},
		{"${NO}", "", "NO", false},
		{"${NO}${EMPTY}", "", "NO EMPTY", false},
		{"$${A}", "${A}", "", false},
		{"$$${A}", "$${A}", "", false},
		{"$${A}${A}", "${A}one", "", false},
		{"${REF}", "${A}", "", false}, // never looked at again
		{"${}", "", "", true},
		{"${1}", "", "", true},
		{"a ${b c} ${A}", "", "", true},
	} {
		e := expand(x.in, getenv)
		if e.broken != x.broken || strings.Join(e.missing, " ") != x.missing || !x.broken && e.text != x.want {
			t.Errorf("%q: got %+v, want %q, missing %q, broken %v", x.in, e, x.want, x.missing, x.broken)
		}
	}
}

func TestVariablesInValues(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
store: {dsn: "postgres://${PGUSER}@db/x"}
session: {dmScope: "${SCOPE}", identityLinks: {a: [${ID}, 'x:${ID}', "$${ID}:1", x:1]}}
delivery: {ttl: {replyMinutes: ${N}, cronMinutes: "${N}"}}
tools: {agentToAgent: {enabled: ${ON:-true}}, fetch: {allowHosts: [${L:-a b}]}}
agents: {defaults: {instructions: ${EVIL}}}
`, "PGUSER", "u", "SCOPE", "main", "ID", "telegram:7", "N", "7", "EVIL", "x, model: a/b}\n- [")
	if got := c.Store.DSN.Reveal(); got != "postgres://u@db/x" {
		t.Errorf("dsn %q", got)
	}
	if got := strings.Join(c.Session.IdentityLinks["a"], " "); got != "telegram:7 x:telegram:7 ${ID}:1 x:1" {
		t.Errorf("links %q", got)
	}
	if c.Session.DMScope != "main" || c.Delivery.TTL.ReplyMinutes != 7 || c.Delivery.TTL.CronMinutes != 7 || !c.Tools.AgentToAgent.Enabled || c.Tools.Fetch.AllowHosts[0] != "a b" {
		t.Errorf("got %+v %+v %+v", c.Session, c.Delivery, c.Tools)
	}
	if got := c.Agents.Defaults.Instructions; got != "x, model: a/b}\n- [" || c.Agents.Defaults.Model != "" {
		t.Errorf("a variable became YAML: %+v", c.Agents.Defaults)
	}
}

func TestVariablesThatAreNotSet(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ name, text, want string }{
		{"gateway.token", "gateway: {token: ${NO}}\n", ""},
		{"disabled channel", "channels: {telegram: {enabled: false, token: ${NO}, pacing: {perSecond: ${NO}}}}\n", ""},
		{"disabled account", "channels: {telegram: {token: x, accounts: {a: {enabled: false, token: ${NO}}}}}\n", ""},
		{"account beside a disabled one", "channels: {telegram: {accounts: {a: {enabled: false, token: ${NO}}, b: {token: ${NO}}}}}\n", "channels.telegram.accounts.b.token: the environment variable NO is not set"},
		{"key of a provider", "models: {providers: {a: {api: openai, apiKey: ${NO}}}}\n", "models.providers.a.apiKey: the environment variable NO is not set"},
		{"inside a text", "agents: {defaults: {instructions: You are ${NO}.}}\n", "agents.defaults.instructions: the environment variable NO is not set"},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := load(x.text)
			if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
				t.Errorf("got %v, want %q", err, x.want)
			}
		})
	}
}

// Whatever a variable holds, only the value that names it changes.
func TestVariablesCannotInject(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		evil := rapid.String().Draw(t, "evil")
		quote := rapid.SampledFrom([]string{"", "'", `"`}).Draw(t, "quote")
		c, _, err := load("agents: {defaults: {instructions: "+quote+"${EVIL:-d}"+quote+", maxSteps: 3}}\n", "EVIL", evil)
		if err != nil {
			t.Fatal(err)
		}
		if evil == "" {
			evil = "d"
		}
		if c.Agents.Defaults.Instructions != evil || c.Agents.Defaults.MaxSteps != 3 {
			t.Fatalf("got %+v", c.Agents.Defaults)
		}
	})
}
