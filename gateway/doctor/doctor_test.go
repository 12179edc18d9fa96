package doctor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/models"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// bot is a channel that knows who it is, or why not.
type bot struct {
	channels.Channel
	err error
}

func (b bot) Identify(context.Context) (string, error) { return "@bot", b.err }

// setup is what a run meets.
type setup struct {
	platform string // address
	token    error  // what the platform says to the token
	models   []string
	modelErr error
	host     *api.HostStatus
	hostErr  error
	config   func(*config.Config)
	before   func(state string)
	env      map[string]string
}

func (s setup) run(t *testing.T) []Finding {
	t.Helper()
	dir := t.TempDir()
	c := &config.Config{State: filepath.Join(dir, "state"), Gateway: config.Gateway{Listen: "127.0.0.1:0"}, Channels: config.Channels{{Kind: "fake", ID: "default"}}}
	if err := os.Mkdir(c.State, 0o700); err != nil {
		t.Fatal(err)
	}
	c.Models.Providers = map[string]agent.Provider{"mock": {API: "mock", BaseURL: "http://127.0.0.1:1"}}
	c.Agents.Defaults.Model = "mock/m1"
	if s.config != nil {
		s.config(c)
	}
	if s.before != nil {
		s.before(c.State)
	}
	return Run(t.Context(), Deps{
		Config: c, Version: "1", Now: time.Now, Getenv: func(n string) string { return s.env[n] },
		Adapters: []accounts.Adapter{{Adapter: config.Adapter{Kind: "fake"}, Platform: func(config.Account) string { return s.platform },
			Open: func(config.Account, accounts.Env) (channels.Channel, error) { return bot{err: s.token}, nil }}},
		Providers: []models.Provider{{API: "mock", List: func(context.Context, agent.Provider) ([]string, error) { return s.models, s.modelErr }}},
		Host: func(context.Context) (api.HostStatus, error) {
			if s.host != nil {
				return *s.host, nil
			}
			if s.hostErr != nil {
				return api.HostStatus{}, s.hostErr
			}
			return api.HostStatus{}, ErrNoHost
		},
	})
}

// expect looks for a finding with a level and words.
func expect(t *testing.T, fs []Finding, check string, l Level, words string) {
	t.Helper()
	for _, f := range fs {
		if f.Check == check && f.Level == l && strings.Contains(f.Text, words) {
			if l != Fine && f.Fix == "" {
				t.Errorf("%q does not say what to do", f.Text)
			}
			return
		}
	}
	t.Errorf("no %s of %s with %q in %+v", l, check, words, fs)
}

func TestAllIsWell(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	fs := setup{platform: srv.URL, models: []string{"m1"}}.run(t)
	for _, f := range fs {
		if f.Level != Fine && f.Level != Skipped && f.Check != "disk" { // that is this machine's
			t.Errorf("%+v", f)
		}
	}
	expect(t, fs, "fake", Fine, "the token of @bot")
	expect(t, fs, "model mock", Fine, "lists 1 model")
	expect(t, fs, "port", Fine, "is free")
	expect(t, fs, "host", Skipped, "the checks that need one were not made")
	expect(t, fs, "model", Skipped, "the model itself was not called") // no tick for what was not tried
	for _, f := range fs {
		if f.Level == Fine && strings.Contains(f.Text, "not ") {
			t.Errorf("a tick: %+v", f)
		}
	}
}

// TestStoppedServer: a model server of this machine that is not started is named with its address and the command that starts it.
// source: docs.ollama.com/faq; lmstudio.ai/docs/cli
func TestStoppedServer(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]string{"ollama": "start Ollama at http://127.0.0.1:1/v1: ollama serve", "lmstudio": "start LM Studio at http://127.0.0.1:1/v1: lms server start", "other": "start the server of this address"} {
		fs := setup{platform: "http://127.0.0.1:1", modelErr: errors.New("connection refused"), config: func(c *config.Config) {
			c.Channels = nil
			c.Models.Providers = map[string]agent.Provider{name: {API: "mock", BaseURL: "http://127.0.0.1:1/v1"}}
			c.Agents.Defaults.Model = name + "/m1"
		}}.run(t)
		expect(t, fs, "model "+name, Failure, "no server listens on 127.0.0.1:1 of this machine")
		if got := FirstStep(fs); !strings.HasPrefix(got, "model "+name+": "+start) {
			t.Errorf("%s: %s", name, got)
		}
	}
	fs := setup{config: func(c *config.Config) { c.Channels, c.Models.Providers, c.Agents.Defaults.Model = nil, nil, "" }, env: map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}}.run(t)
	expect(t, fs, "model", Warning, "no Ollama at http://127.0.0.1:1")
	if got := FirstStep(fs); !strings.Contains(got, "ollama serve") {
		t.Error(got)
	}
}

// TestFirstStep names the account, the provider or the key that it is about, unless its words do.
func TestFirstStep(t *testing.T) {
	t.Parallel()
	for want, f := range map[string]Finding{
		"telegram/biz: get a new token":     {Check: "telegram/biz", Fix: "get a new token"},
		"models.providers.a.apiKey: set":    {Check: "config", About: "models.providers.a.apiKey", Fix: "set"},
		"start the host: parley":            {Check: "host", Fix: "start the host: parley"},
		"telegram: get a token of telegram": {Check: "telegram", Fix: "get a token of telegram"},
	} {
		f.Next = true
		if got := FirstStep([]Finding{{Check: "disk"}, f}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestFindings(t *testing.T) {
	t.Parallel()
	off := func(d time.Duration) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", time.Now().Add(d).UTC().Format(http.TimeFormat))
		}))
	}
	well, slow, ahead := off(0), off(-time.Hour), off(20*time.Second)
	strange := httptest.NewUnstartedServer(http.NotFoundHandler())
	strange.Config.ErrorLog = log.New(io.Discard, "", 0) // it is told that its certificate is not liked
	strange.StartTLS()
	for _, s := range []*httptest.Server{well, slow, ahead, strange} {
		t.Cleanup(s.Close)
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	m := []string{"m1"}
	for name, c := range map[string]struct {
		setup
		check string
		level Level
		words string
	}{
		"clock":          {setup{platform: slow.URL, models: m}, "time", Warning, "1h0m"},
		"no platform":    {setup{platform: "http://127.0.0.1:1", models: m}, "fake", Failure, "no server listens on 127.0.0.1:1"},
		"no name":        {setup{platform: "https://nowhere.invalid", models: m}, "fake", Failure, "the name nowhere.invalid"},
		"strange cert":   {setup{platform: strange.URL, models: m}, "fake", Failure, "certificate"},
		"no address":     {setup{platform: "nothing", models: m}, "fake", Failure, "not the address"},
		"bad token":      {setup{platform: well.URL, models: m, token: &channels.Error{Class: channels.Unauthorized, Err: errors.New("401")}}, "fake", Failure, "rejected the token"},
		"token unknown":  {setup{platform: well.URL, models: m, token: errors.New("reset")}, "fake", Warning, "cannot check the token"},
		"no such model":  {setup{platform: well.URL, models: []string{"m2"}}, "model mock", Warning, `does not list the model "m1"`},
		"bad model key":  {setup{platform: well.URL, modelErr: errors.New("401"), config: func(c *config.Config) { c.Models.Providers["mock"] = agent.Provider{API: "mock", BaseURL: well.URL} }}, "model mock", Failure, "cannot list the models of provider mock"},
		"no model":       {setup{platform: well.URL, config: func(c *config.Config) { c.Agents.Defaults.Model = ""; c.Models.Providers = nil }}, "model", Warning, "no language model is configured"},
		"no model of it": {setup{platform: well.URL, config: func(c *config.Config) { c.Agents.Defaults.Model = "" }}, "model", Warning, "agents.defaults.model is not set"},
		"only model": {setup{platform: well.URL, models: m, config: func(c *config.Config) {
			c.Agents.Defaults.Model = ""
			c.Models.Providers["mock"] = agent.Provider{API: "mock", BaseURL: well.URL, Models: map[string]agent.ModelFacts{"m1": {}}}
		}}, "model", Fine, "mock/m1 is selected"},
		"platform away": {setup{platform: well.URL, models: m, host: &api.HostStatus{Accounts: []api.Account{{Channel: "fake", Account: "default", State: channels.Disconnected, Detail: "EOF"}}}}, "fake", Failure, "EOF"},
		"no certificate": {setup{platform: well.URL, models: m, config: func(c *config.Config) {
			c.Path = "/x.yaml"
			c.Warnings = []config.Problem{{Key: "gateway.tls", Text: "cannot be used", Hint: "mend it"}}
		}}, "config", Failure, "cannot be used"},
		"config waits":     {setup{platform: well.URL, models: m, before: restored}, "config", Warning, "config-of-the-backup.yaml"},
		"config beside":    {setup{platform: well.URL, models: m, before: restored, config: func(c *config.Config) { c.Path = "/x.yaml" }}, "state", Fine, "not in force"},
		"port taken":       {setup{platform: well.URL, models: m, config: func(c *config.Config) { c.Gateway.Listen = taken.Addr().String() }}, "port", Failure, "cannot listen on"},
		"bad zone":         {setup{platform: well.URL, models: m, env: map[string]string{"TZ": "Mars/Base"}}, "time", Warning, "Mars/Base"},
		"no folder":        {setup{platform: well.URL, models: m, before: func(dir string) { _ = os.Remove(dir) }}, "state", Fine, "creates the state folder"},
		"a file":           {setup{platform: well.URL, models: m, before: func(dir string) { _ = os.Remove(dir); _ = os.WriteFile(dir, nil, 0o600) }}, "state", Failure, "is a file"},
		"open folder":      {setup{platform: well.URL, models: m, before: func(dir string) { _ = os.Chmod(dir, 0o755) }}, "state", Warning, "can read the state folder"},
		"open token":       {setup{platform: well.URL, models: m, before: func(dir string) { _ = os.WriteFile(filepath.Join(dir, "token"), nil, 0o644) }}, "state", Warning, "can read the file"},
		"half restored":    {setup{platform: well.URL, models: m, before: func(dir string) { _ = os.WriteFile(filepath.Join(dir, sqlstore.UnfinishedFile), nil, 0o600) }}, "state", Failure, "interrupted"},
		"damaged":          {setup{platform: well.URL, models: m, before: func(dir string) { _ = os.WriteFile(filepath.Join(dir, "parley.db"), []byte("no database"), 0o600) }}, "store", Failure, "damaged"},
		"no server":        {setup{platform: well.URL, models: m, config: func(c *config.Config) { c.Store.DSN = channels.NewSecret("postgres://u:pw@127.0.0.1:1/x") }}, "store", Failure, "cannot connect to"},
		"host hangs":       {setup{platform: well.URL, models: m, hostErr: errors.New("too long")}, "host", Failure, "does not answer"},
		"host of old":      {setup{platform: well.URL, models: m, host: &api.HostStatus{Version: "0", Ready: true}}, "host", Warning, "the host is parley 0"},
		"host not ready":   {setup{platform: well.URL, models: m, host: &api.HostStatus{Version: "1", Why: "asleep"}}, "host", Failure, "asleep"},
		"set aside":        {setup{platform: well.URL, models: m, host: &api.HostStatus{Version: "1", Ready: true, SetAside: 2}}, "host", Warning, "for 2 messages of the last week"},
		"account revoked":  {setup{platform: well.URL, models: m, host: &api.HostStatus{Accounts: []api.Account{{Channel: "fake", Account: "default", State: channels.Revoked, Todo: "get one"}}}}, "fake", Failure, "revoked"},
		"account is new":   {setup{platform: well.URL, models: m, host: &api.HostStatus{}}, "fake", Warning, "does not have this account"},
		"account is there": {setup{platform: well.URL, models: m, host: &api.HostStatus{Accounts: []api.Account{{Channel: "fake", Account: "default", State: channels.Connected, Live: true}}}}, "fake", Fine, "the host reports"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fs := c.run(t)
			if strings.HasPrefix(name, "config ") && strings.Contains(fmt.Sprint(fs), "delete") {
				t.Errorf("a configuration is to be deleted: %v", fs)
			}
			if name == "platform away" && !slices.ContainsFunc(fs, func(f Finding) bool { return f.Level == Failure && strings.Contains(f.Fix, "network") }) {
				t.Errorf("no remedy: %v", fs)
			}
			expect(t, fs, c.check, c.level, c.words)
			for _, f := range fs {
				if strings.Contains(f.Text+f.Fix, "pw") {
					t.Errorf("a password is shown: %+v", f)
				}
			}
		})
	}
	t.Run("a host starts", func(t *testing.T) {
		t.Parallel()
		var release func() error
		fs := setup{platform: well.URL, models: m, before: func(dir string) {
			_ = os.WriteFile(filepath.Join(dir, sqlstore.DatabaseFile), []byte("half of one"), 0o600)
			release, _ = sqlstore.Hold(dir)
		}}.run(t)
		expect(t, fs, "store", Warning, "a host is starting")
		if err := release(); err != nil {
			t.Error(err)
		}
	})
	t.Run("a clock that is near enough", func(t *testing.T) {
		t.Parallel()
		for _, f := range (setup{platform: ahead.URL, models: m}).run(t) {
			if f.Check == "time" && f.Level != Fine {
				t.Errorf("%+v", f)
			}
		}
	})
}

// What the error of a host that hangs says to do is what doctor says to do.
func TestSuspendedHost(t *testing.T) {
	t.Parallel()
	fs := setup{platform: "http://127.0.0.1:1", hostErr: errors.New("no answer within 3s\nIf it is suspended, run `kill -CONT 7`.")}.run(t)
	i := slices.IndexFunc(fs, func(f Finding) bool { return f.Check == "host" })
	if f := fs[i]; f.Fix != "If it is suspended, run `kill -CONT 7`." || !strings.HasSuffix(f.Text, "no answer within 3s") {
		t.Errorf("%+v", f)
	}
}

// The finding names the folder, and not the file that was tried.
func TestWritableNamesNoTemporaryFile(t *testing.T) {
	t.Parallel()
	if err := writable(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), ".doctor-") {
		t.Error(err)
	}
}

// One row tells what the clock shows: a clock that differs from a platform's gets no tick.
func TestClock(t *testing.T) {
	t.Parallel()
	for off, certificates := range map[time.Duration]bool{40 * time.Second: false, 2 * time.Hour: true} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
		}))
		fs := setup{platform: srv.URL, models: []string{"m1"}}.run(t)
		srv.Close()
		expect(t, fs, "time", Warning, "the clock of this machine differs by")
		for _, f := range fs {
			if f.Check == "time" && f.Level == Warning && strings.Contains(f.Text, "certificates") != certificates {
				t.Errorf("%s: %s", off, f.Text)
			}
			if f.Check == "time" && f.Level == Fine && strings.Contains(f.Text, "the time is") {
				t.Errorf("a tick for a clock that is wrong: %+v", f)
			}
		}
	}
}

// A database that cannot be read for its permissions is not damaged: no backup is restored over it.
func TestUnreadableStore(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("open the store: %w", &fs.PathError{Op: "open", Path: "parley.db", Err: fs.ErrPermission})
	if f := unusable("/state", err); !strings.Contains(f.Fix, "chown -R USER /state") || strings.Contains(f.Fix, "restore") {
		t.Errorf("%+v", f)
	}
	if f := unusable("/state", fmt.Errorf("%w: parley.db", sessions.ErrDamaged)); !strings.Contains(f.Fix, "parley restore FILE") {
		t.Errorf("%+v", f)
	}
	if f := unusable("/state", errors.New("input/output error")); strings.Contains(f.Fix, "parley restore FILE") {
		t.Errorf("%+v", f)
	}
}

func TestInvalidConfig(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("stat: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := config.Load(path, nil, os.Getenv)
	fs := Run(t.Context(), Deps{Invalid: err})
	expect(t, fs, "config", Failure, "config.yaml:1: stat")
	if len(fs) != 1 || !strings.Contains(fs[0].Fix, "state") {
		t.Errorf("%+v", fs)
	}
	// Where the state folder is known, what is in it and its host are looked at.
	fs = Run(t.Context(), Deps{Invalid: err, Config: &config.Config{Path: path, State: t.TempDir()}, Version: "1", Host: func(context.Context) (api.HostStatus, error) {
		return api.HostStatus{Version: "1", Ready: true, Store: "SQLite"}, nil
	}})
	expect(t, fs, "config", Failure, "config.yaml:1: stat")
	expect(t, fs, "host", Fine, "has been running since")
	expect(t, fs, "state", Fine, "wrote to")
	// The host cannot be asked with the same file: that is no host that hangs.
	fs = Run(t.Context(), Deps{Invalid: err, Config: &config.Config{Path: path, State: t.TempDir()}, Version: "1", Host: func(context.Context) (api.HostStatus, error) {
		return api.HostStatus{}, fmt.Errorf("cannot ask: %w", err)
	}})
	expect(t, fs, "host", Warning, "cannot ask")
}

// TestSecretsInTheOpen: a configuration that others may read is a warning when it has secrets in it.
func TestSecretsInTheOpen(t *testing.T) {
	t.Parallel()
	for text, warned := range map[string]bool{
		"channels:\n  telegram:\n    token: \"123:abc\"\n":       true,
		"models: {providers: {x: {apiKey: sk-1}}}\n":             true,
		"channels:\n  telegram:\n    token: ${TELEGRAM}\n":       false,
		"# token: 123\ngateway:\n  token: \"${PARLEY_TOKEN}\"\n": false,
		"state: x\n": false,
	} {
		path := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if fs := private("config", path, true); fs != nil {
			t.Errorf("private, and yet %+v", fs)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if fs := private("config", path, true); (len(fs) == 1) != warned {
			t.Errorf("%q: %+v", text, fs)
		}
	}
}

// TestHanging: a check that does not end is a finding, and costs no more than its time.
func TestHanging(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		never := make(chan struct{})
		fs := within(t.Context(), group{"disk", func(context.Context) []Finding { <-never; return nil }})
		close(never)
		expect(t, fs, "disk", Failure, "timed out")
		if took := time.Since(began); took > Limit {
			t.Errorf("it took %s", took)
		}
	})
}

// restored leaves what a restore leaves where there was no configuration.
func restored(state string) {
	aside := state + ".before-restore-20260101T000000Z"
	_ = os.Mkdir(aside, 0o700)
	_ = os.WriteFile(filepath.Join(aside, "config-of-the-backup.yaml"), nil, 0o600)
}

// TestLoadingServer: a server that loads its model is waited for, and one that takes longer is named, with what to do. No key is blamed.
// source: github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md (503, Loading model)
func TestLoadingServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		after int // questions until it has loaded it
		said  string
		level Level
		words string
		fix   string
	}{
		"soon":            {3, "Loading model", Fine, "lists 1 model", ""},
		"not for a while": {1000, "Loading model", Warning, "still loading its model", "wait until the server has loaded the model"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				list := func(context.Context, agent.Provider) ([]string, error) {
					if asked++; asked > c.after {
						return []string{"m1"}, nil
					}
					return nil, fmt.Errorf("list models: %w", &agent.ModelError{Class: agent.Overloaded, Status: 503, Tries: 1, Err: errors.New(c.said)})
				}
				x := exam{Deps: Deps{Now: time.Now, Providers: []models.Provider{{API: "mock", List: list}}}}
				fs := x.provider(t.Context(), "mock", agent.Provider{API: "mock", BaseURL: "http://127.0.0.1:1"}, "mock/m1")
				if len(fs) != 1 || fs[0].Level != c.level || !strings.Contains(fs[0].Text, c.words) || !strings.HasPrefix(fs[0].Fix, c.fix) {
					t.Errorf("asked %d times: %+v", asked, fs)
				}
			})
		})
	}
}

// TestBusyServer: a server that has no time is not said to refuse the key.
func TestBusyServer(t *testing.T) {
	t.Parallel()
	well := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(well.Close)
	fs := setup{platform: well.URL, modelErr: &agent.ModelError{Class: agent.Overloaded, Status: 503, Err: errors.New("Server busy")}, config: func(c *config.Config) {
		c.Models.Providers["mock"] = agent.Provider{API: "mock", BaseURL: well.URL}
	}}.run(t)
	expect(t, fs, "model mock", Failure, "no capacity now (HTTP 503)")
	for _, f := range fs {
		if f.Check == "model mock" && f.Level == Failure && !strings.HasPrefix(f.Fix, "try again in a moment") {
			t.Errorf("%+v", f)
		}
	}
}
