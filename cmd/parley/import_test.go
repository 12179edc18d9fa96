package main

import (
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/cmd/internal/tables"
	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
	"parley/gateway/openclaw"
	"parley/sessions"
	"parley/sessions/sqlstore"
)

// TestImport takes a made-up OpenClaw over: dry first, then for good, beside what there is; the host then has the sessions, and sends
// nothing because of them.
func TestImport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	from, err := filepath.Abs(filepath.Join("..", "..", "gateway", "openclaw", "testdata", "state"))
	if err != nil {
		t.Fatal(err)
	}
	p := w.start()
	w.tg.Say(owner, owner, "hello")
	w.sent(owner, 1)
	w.quiet()
	out, code := w.cli("import", "openclaw", from)
	if code != 0 || !strings.Contains(out, "nothing was written") || strings.Contains(out, "made-up-secret") {
		t.Errorf("dry: exit %d, %s", code, out)
	}
	if out, code := w.cli("import", "openclaw", from, "--write"); code != exitFailed || !strings.Contains(out, "stopped") || !strings.Contains(out, "config.yaml stop` first") {
		t.Errorf("below a host that runs: exit %d, %s", code, out)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "openclaw-import.yaml")); !os.IsNotExist(err) {
		t.Errorf("a configuration was written: %v", err)
	}
	p.stop()
	got := fromCLI[imported](w, "import", "openclaw", from, "--write")
	if got.Sessions < 20 || len(got.Skipped) != 1 || !strings.Contains(got.Skipped[0], "agent:main:main") {
		t.Errorf("%d sessions, skipped %q", got.Sessions, got.Skipped)
	}
	if want := []string{"ANTHROPIC_API_KEY", "DISCORD_BOT_TOKEN", "OPENROUTER_API_KEY"}; !slices.Equal(got.Needs, want) {
		t.Errorf("it needs %q", got.Needs)
	}
	if again := fromCLI[imported](w, "import", "openclaw", from, "--write", "--config-out", "other.yaml"); again.Same+len(again.Skipped) != again.Sessions || len(again.Skipped) != 1 {
		t.Errorf("once more: %d of %d were there, and %q", again.Same, again.Sessions, again.Skipped)
	}
	if out, code := w.cli("import", "openclaw", from, "--write", "--config-out", "config.yaml"); code != exitUsage || !strings.Contains(out, "--config-out") {
		t.Errorf("over a file: exit %d, %s", code, out)
	}
	env, err := os.ReadFile(filepath.Join(w.dir, ".env"))
	if info, e := os.Stat(filepath.Join(w.dir, ".env")); err != nil || e != nil || info.Mode().Perm() != 0o600 || strings.Count(string(env), "TELEGRAM_TOKEN='123456:made-up-secret'\n") != 1 {
		t.Errorf("the secrets: %v, %v\n%s", err, e, env)
	}
	check := w.command("--config", "openclaw-import.yaml", "check")
	for _, name := range got.Needs {
		check.Env = append(check.Env, name+"=x")
	}
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("its configuration: %v, %s", err, out)
	}
	w.start()
	w.quiet()
	rows := fromCLI[[]api.Session](w, "sessions", "list", "--limit", "100")
	for _, key := range []string{"agent:main:telegram:group:-100500", "agent:helper:main", "agent:main:whatsapp:direct:+4915123456789"} {
		if !slices.ContainsFunc(rows, func(s api.Session) bool { return string(s.Key) == key }) {
			t.Errorf("no session %s in %+v", key, rows)
		}
	}
	if n := w.tg.SentCount(); n != 1 {
		t.Errorf("%d messages were sent", n)
	}
}

// A configuration that cannot be read fails the command, and the next steps are not those after an import. The sessions are imported without it.
func TestImportOfAnUnreadableConfiguration(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.config("", "")
	from := filepath.Join(w.dir, "openclaw")
	if err := os.Mkdir(from, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from, "openclaw.json"), []byte(`{agents: {defaults: }}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]int{"": exitFailed, "--write": exitFailed, "--use": exitFailed, "--write --json": exitFailed, "--sessions-only": 0, "--sessions-only --write": 0} {
		out, code := w.cli(append([]string{"import", "openclaw", from}, strings.Fields(args)...)...)
		if code != want || code != 0 && (strings.Contains(out, "Next:") || !strings.Contains(out, "openclaw.json cannot be read")) {
			t.Errorf("%s: exit %d, %s", args, code, out)
		}
	}
}

// While OpenClaw runs nothing is written: the report names the process, and how it is stopped.
// source: openclaw/openclaw src/agents/session-write-lock.ts (the file, with pid and start time)
func TestImportBesideOpenClaw(t *testing.T) {
	t.Parallel()
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skip("start times are read from /proc")
	}
	start := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[19]
	w := newWorld(t)
	w.config("", "")
	from := filepath.Join(w.dir, "openclaw")
	if err := os.CopyFS(from, os.DirFS(filepath.Join("..", "..", "gateway", "openclaw", "testdata", "state"))); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(from, "agents", "main", "sessions", "x.jsonl.lock")
	if err := os.WriteFile(lock, []byte(fmt.Sprintf(`{"pid": %d, "starttime": %s}`, os.Getpid(), start)), 0o600); err != nil {
		t.Fatal(err)
	}
	process := fmt.Sprintf("process %d", os.Getpid())
	got := fromCLI[imported](w, "import", "openclaw", from)
	if got.Running != process || len(got.NeedsYou) == 0 || got.NeedsYou[0].What != "OpenClaw" || !got.DryRun {
		t.Errorf("%q, %+v", got.Running, got.NeedsYou)
	}
	for _, flag := range []string{"--write", "--use"} {
		if out, code := w.cli("import", "openclaw", from, flag); code != exitFailed || !strings.Contains(out, process) || !strings.Contains(out, "openclaw gateway stop") || !strings.Contains(out, "token") {
			t.Errorf("%s: exit %d, %s", flag, code, out)
		}
	}
	if err := os.Remove(lock); err != nil {
		t.Fatal(err)
	}
	for name, sign := range map[string]func() (running string, env string){
		"a lease of a process with any name": func() (string, string) {
			lease(t, from, fmt.Sprintf("INSERT INTO agent_database_leases VALUES ('l', 'main', '%s', %d, %d)", filepath.Join(from, "agents", "main", "agent", "openclaw-agent.sqlite"), os.Getpid(), time.Now().UnixMilli()))
			return process, ""
		},
		"the gateway's lease": func() (string, string) {
			lease(t, from, fmt.Sprintf(`INSERT INTO state_leases VALUES ('gateway-owner', 'global', %d, '{"owner":{"pid":%d,"startedAt":%s}}')`, time.Now().Add(time.Minute).UnixMilli(), os.Getpid(), start))
			return process, ""
		},
		"a listener": func() (string, string) {
			lease(t, from)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			port := l.Addr().(*net.TCPAddr).Port
			return fmt.Sprintf("port %d", port), fmt.Sprintf("OPENCLAW_GATEWAY_PORT=%d", port)
		},
	} {
		running, more := sign()
		for flag, want := range map[string]int{"--dry-run": 0, "--write": exitFailed} {
			c := w.command("--config", "config.yaml", "import", "openclaw", from, flag)
			c.Env = append(c.Env, more)
			out, _ := c.CombinedOutput()
			if code := c.ProcessState.ExitCode(); code != want || !strings.Contains(string(out), running) {
				t.Errorf("%s, %s: exit %d, %s", name, flag, code, out)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(w.dir, importedConfig)); !os.IsNotExist(err) {
		t.Errorf("a configuration was written: %v", err)
	}
}

// lease makes OpenClaw's shared database anew, in the schema of its first leases.
func lease(t *testing.T, folder string, statements ...string) {
	t.Helper()
	file := filepath.Join(folder, "state", "openclaw.sqlite")
	if err := errors.Join(os.RemoveAll(filepath.Dir(file)), os.MkdirAll(filepath.Dir(file), 0o700)); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append([]string{"CREATE TABLE agent_database_leases (lease_id TEXT, agent_id TEXT, path TEXT, owner_pid INTEGER, opened_at INTEGER)",
		"CREATE TABLE state_leases (scope TEXT, lease_key TEXT, expires_at INTEGER, payload_json TEXT)"}, statements...) {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// With two accounts whose tokens are not set yet the new configuration is read all the same: the report names the phone to link, jobs find their agent.
func TestImportWithUnsetTokens(t *testing.T) {
	t.Parallel()
	for _, channel := range []string{`telegram: {accounts: {a: {botToken: "${A}"}, b: {botToken: "${B}"}}}`, `discord: {accounts: {a: {token: "${A}"}, b: {token: "${B}"}}}`, `telegram: {accounts: {a: {botToken: "1:a"}, b: {botToken: "2:b"}}}`} {
		from := t.TempDir()
		text := `{agents: {list: [{id: "ada"}]}, models: {providers: {openai: {apiKey: "k"}}}, channels: {whatsapp: {}, ` + channel + `}}`
		if err := os.WriteFile(filepath.Join(from, "openclaw.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := openclaw.Read(t.Context(), from, accounts.Table(tables.Adapters()), func(string) string { return "" }, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		out := imported{}
		out.links(r.Parsed, "parley")
		if len(out.NeedsYou) != 1 || !strings.Contains(out.NeedsYou[0].Why, "parley login whatsapp") {
			t.Errorf("%s: %+v, %+v", channel, out.NeedsYou, r.Report.NeedsYou)
		}
		if got := (destination{conf: &config.Config{}}).agents(r, true); !slices.Equal(got, []sessions.AgentID{"ada", "ada"}) {
			t.Errorf("%s: agents %v", channel, got)
		}
	}
}

// Where the configuration cannot be written, the one in force lets in nobody of OpenClaw's paired people.
func TestImportAdmitsAfterTheConfiguration(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, file := range []string{filepath.Join(dir, "gone", "config.yaml"), filepath.Join(dir, "config.yaml")} {
		r, err := openclaw.Read(t.Context(), filepath.Join("..", "..", "gateway", "openclaw", "testdata", "state"), accounts.Table(tables.Adapters()), func(string) string { return "" }, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		if len(r.Paired) == 0 {
			t.Fatal("the folder has no paired people")
		}
		at, fails := file, strings.Contains(file, "gone")
		if fails { // a link into a folder that does not exist
			if at = filepath.Join(dir, "link.yaml"); os.Symlink(file, at) != nil {
				t.Skip("links cannot be made here")
			}
		}
		to := destination{conf: &config.Config{State: filepath.Join(dir, "state")}, file: at, use: true}
		out := imported{Config: at}
		err = importOpenClawCmd{Use: true, ConfigOnly: true}.write(&env{ctx: t.Context()}, to, r, &out, &progressBar{})
		s, opens := sqlstore.Open(t.Context(), sqlstore.Config{Dir: to.conf.State})
		if opens != nil {
			t.Fatal(opens)
		}
		people, reads := s.Admitted(t.Context())
		if reads != nil || (err != nil) != fails || (len(people) == 0) != fails {
			t.Errorf("%s: %v, %v, %v", file, err, people, reads)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
