package wizard

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"parley/agent"
	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/configfile"
	"parley/gateway/models"
)

// fields are those of the channel of the tests.
type fields struct {
	Token  channels.Secret `yaml:"token" required:"true" doc:"From somewhere."`
	APIURL string          `yaml:"apiUrl"`
}

func table() []accounts.Adapter {
	return []accounts.Adapter{{Adapter: config.Adapter{Kind: "fake", New: func() any { return &fields{} }}, Platform: func(config.Account) string { return "x" }}}
}

// TestWhatIsWrittenIsRead: whatever the answers are, the files make a configuration that says the same.
func TestWhatIsWrittenIsRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.StringMatching(`[ -~äé€😀]{1,20}`)
		a := Answers{Agent: plain.Draw(t, "agent") + rapid.SampledFrom([]string{"", "${HOME}"}).Draw(t, "variable"), State: filepath.Join(dir, "state"), Env: rapid.Bool().Draw(t, "env"),
			Channels: []Channel{{Kind: "fake", Token: channels.NewSecret(strings.TrimSpace(rapid.StringMatching(`[!#-&(-~]{1,20}`).Draw(t, "token"))), Name: plain.Draw(t, "name")}},
			Model:    Model{Name: "p/m", API: "openai", BaseURL: "http://127.0.0.1:1/v1", Key: channels.NewSecret("k" + rapid.StringMatching(`[a-z$]{0,9}`).Draw(t, "key"))}}
		text, vars := a.Files()
		if err := os.WriteFile(filepath.Join(dir, configfile.EnvName), vars, 0o600); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "config.yaml")
		c, _, err := config.Parse(path, text, accounts.Table(table()), configfile.WithEnvFile(path, func(string) string { return "" }))
		if err != nil {
			t.Fatalf("%v in\n%s\n%s", err, text, vars)
		}
		if got := c.Agents.List[0].Name; got != a.Agent {
			t.Errorf("the agent is %q, not %q", got, a.Agent)
		}
		if got := c.Channels[0].Adapter.(*fields).Token; got != a.Channels[0].Token {
			t.Errorf("the token is %q, not %q in\n%s\n%s", got.Reveal(), a.Channels[0].Token.Reveal(), text, vars)
		}
		if got := c.Models.Providers["p"].APIKey; got != a.Model.Key {
			t.Errorf("the key is %q, not %q", got.Reveal(), a.Model.Key.Reveal())
		}
		if a.Env && bytes.Contains(text, []byte("token: \"")) {
			t.Errorf("the token is in the configuration:\n%s", text)
		}
	})
}

func TestMergeEnv(t *testing.T) {
	t.Parallel()
	got := string(MergeEnv([]byte("# mine\nA=1\nexport B=2\nC=3"), []byte("# Secrets\nB='new'\nD='4'\n")))
	if want := "# mine\nA=1\nC=3\nB='new'\nD='4'\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := string(MergeEnv(nil, []byte("# Secrets\nB='new'\n"))); got != "# Secrets\nB='new'\n" {
		t.Errorf("a new file: %q", got)
	}
}

// TestModelQuestions: a model that is there is proposed, a server is asked for its models, and the answers are asked for again until
// they are some.
func TestModelQuestions(t *testing.T) {
	t.Parallel()
	var asked agent.Provider
	providers := []models.Provider{{API: "openai", List: func(_ context.Context, p agent.Provider) ([]string, error) {
		if status := map[string]int{"bad": 401, "limited": 403}[p.APIKey.Reveal()]; status != 0 {
			return nil, &agent.ModelError{Class: agent.BadKey, Status: status, Err: errors.New(`{"error": "secret words"}`)}
		}
		if p.BaseURL == "" || strings.Contains(p.BaseURL, "11434") {
			return nil, errors.New("nobody there")
		}
		asked = p
		return []string{"small", "large"}, nil
	}}}
	for name, c := range map[string]struct {
		env  map[string]string
		in   string
		want Model
	}{
		"found":       {map[string]string{"ANTHROPIC_API_KEY": "k"}, "\nn\n", Model{Name: "anthropic/claude-sonnet-4-6", API: "anthropic", Var: "ANTHROPIC_API_KEY"}},
		"in the file": {map[string]string{"ANTHROPIC_API_KEY": "k"}, "\n", Model{Name: "anthropic/claude-sonnet-4-6", API: "anthropic", Var: "ANTHROPIC_API_KEY"}},
		"stored":      {map[string]string{"ANTHROPIC_API_KEY": "k"}, "\n\n", Model{Name: "anthropic/claude-sonnet-4-6", API: "anthropic", Key: channels.NewSecret("k")}},
		"rejected":    {map[string]string{"OPENAI_API_KEY": "bad"}, "\nopenai\nbad\nk\n\n\n", Model{Name: "openai/gpt-5.1", API: "openai", Key: channels.NewSecret("k")}},
		"forbidden":   {nil, "openai\nlimited\n\nk\n\n\n", Model{Name: "openai/gpt-5.1", API: "openai", Key: channels.NewSecret("k")}},
		"allowed":     {nil, "openai\nlimited\ny\n\n", Model{Name: "openai/gpt-5.1", API: "openai", Key: channels.NewSecret("limited")}},
		"not liked":   {map[string]string{"ANTHROPIC_API_KEY": "k"}, "n\nnone\n", Model{None: true}},
		"a server":    {nil, "ftp://x\nhttp://127.0.0.1:1/v1\nsecret\n\n", Model{Name: "local/small", API: "openai", BaseURL: "http://127.0.0.1:1/v1", Key: channels.NewSecret("secret")}},
		"its server":  {map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "openai\nsecret\n\n", Model{Name: "openai/small", API: "openai", BaseURL: "http://127.0.0.1:1/v1", Key: channels.NewSecret("secret")}},
		"openai":      {nil, "openai\nk\n\n\n", Model{Name: "openai/gpt-5.1", API: "openai", Key: channels.NewSecret("k")}},
	} {
		var out bytes.Buffer
		d := Dialog{In: NewInput(strings.NewReader(c.in)), Out: &out, Providers: providers, Getenv: func(n string) string { return c.env[n] }}
		if name == "in the file" {
			d.InFile = func(n string) bool { return n == "ANTHROPIC_API_KEY" }
		}
		var a Answers
		if err := d.model(t.Context(), &a); err != nil || a.Model != c.want {
			t.Errorf("%s: %+v, %v, want %+v\n%s", name, a.Model, err, c.want, &out)
		}
		rejected := strings.Contains(out.String(), "Provider openai rejected the API key")
		if want := name == "rejected" || name == "forbidden" || name == "allowed"; rejected != want || strings.Contains(out.String(), "secret words") {
			t.Errorf("%s: %s", name, &out)
		}
	}
	if asked.APIKey.Reveal() != "secret" {
		t.Errorf("asked with %+v", asked)
	}
}

// TestDetect: of several keys in the environment, that of the model that is meant is taken.
func TestDetect(t *testing.T) {
	t.Parallel()
	openai := Model{Name: "openai/gpt-5.1", API: "openai", Var: "OPENAI_API_KEY"}
	anthropic := Model{Name: "anthropic/claude-sonnet-4-6", API: "anthropic", Var: "ANTHROPIC_API_KEY"}
	for name, c := range map[string]struct {
		vars   []string
		wanted string
		want   Model
	}{
		"both keys, openai":        {[]string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}, openai.Name, openai},
		"both keys, anthropic":     {[]string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}, anthropic.Name, anthropic},
		"both keys":                {[]string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}, "", anthropic},
		"one key":                  {[]string{"OPENAI_API_KEY"}, "", openai},
		"the key of another":       {[]string{"OPENAI_API_KEY"}, anthropic.Name, openai},
		"another provider's model": {[]string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}, "local/small", anthropic},
	} {
		d := Dialog{Getenv: func(n string) string {
			if slices.Contains(c.vars, n) {
				return "k-" + n
			}
			return ""
		}}
		if m, _, ok := d.Detect(t.Context(), c.wanted); !ok || m != c.want {
			t.Errorf("%s: %+v, %v", name, m, ok)
		}
	}
}

// TestCauseNamesTheHost: also where a provider has no address of its own, and behind an error of the client.
func TestCauseNamesTheHost(t *testing.T) {
	t.Parallel()
	for api, host := range map[string]string{"openai": "api.openai.com", "anthropic": "api.anthropic.com"} {
		for _, err := range []error{&net.DNSError{Err: "no such host", Name: host, IsNotFound: true}, errors.New("dial tcp: lookup: server misbehaving"), errors.New("connection refused"), context.DeadlineExceeded} {
			if got := keyProblem(Model{Name: api + "/m", API: api}, err); !strings.Contains(got, host) {
				t.Errorf("%v: %s", err, got)
			}
		}
	}
}

// TestNamedModel asks for the key of a model that a flag names, and not for the model.
func TestNamedModel(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := Dialog{In: NewInput(strings.NewReader("k\n")), Out: &out, Getenv: func(n string) string { return map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}[n] }, Providers: []models.Provider{{API: "openai", List: func(context.Context, agent.Provider) ([]string, error) { return []string{"other"}, nil }}}}
	var a Answers
	want := Model{Name: "openai/mine", API: "openai", BaseURL: "http://127.0.0.1:1/v1", Key: channels.NewSecret("k")}
	if err := d.NamedModel(t.Context(), "openai/mine", &a); err != nil || a.Model != want || !HasAPI("openai") || HasAPI("mine") {
		t.Errorf("%+v, %v: %s", a.Model, err, &out)
	}
}

// TestSecretIsHidden: what is typed is hidden before the question is shown, so that a token that is pasted at once is not.
func TestSecretIsHidden(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	d := Dialog{Out: &out, Hidden: func(ask func()) (string, error) {
		if out.Len() != 0 {
			t.Errorf("asked before: %q", &out)
		}
		ask()
		return "s", nil
	}}
	if s, err := d.secret("Token"); err != nil || s.Reveal() != "s" || !strings.Contains(out.String(), "Token; input is hidden: ") {
		t.Errorf("%q, %v", &out, err)
	}
}
