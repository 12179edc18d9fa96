package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// answering runs parley init with answers, one a line.
func (w *world) answering(lines []string, args ...string) (string, error) {
	w.t.Helper()
	cmd := w.command(append([]string{"--config", "config.yaml", "init"}, args...)...)
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestInit answers the questions as a person would, with a mistake here and there; the host then starts with what was written, and
// its owner is one.
func TestInit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	out, err := w.answering([]string{"Ada", "none", "999:not-a-token", w.tg.Token(), "", "n", "not an id", "1001", "y"}, "--api-url", "telegram="+w.tg.URL(), "--state", "state")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{"rejected the token", "The token of @", "Press Enter to skip", "parley doctor"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if strings.Contains(out, w.tg.Token()) {
		t.Error("the token is shown")
	}
	b, err := os.ReadFile(filepath.Join(w.dir, "config.yaml"))
	if err != nil || bytes.Contains(b, []byte(w.tg.Token())) {
		t.Errorf("the configuration: %v\n%s", err, b)
	}
	if info, err := os.Stat(filepath.Join(w.dir, ".env")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file of secrets: %v, %v", info, err)
	}
	if out, code := w.cli("check"); code != 0 || strings.Contains(out, "warning") {
		t.Errorf("parley check: exit %d, %s", code, out)
	}
	w.change("agents:", "gateway: {listen: \"127.0.0.1:0\"}\nagents:")
	w.start()
	w.tg.Say(owner, owner, "/whoami")
	if got := w.sent(owner, 1)[0]; !strings.Contains(got.Text, "owner") {
		t.Errorf("the owner is told %q", got.Text)
	}
}

// TestInitThroughLinks writes the files that links lead to, also where they are made now: the links stay.
func TestInitThroughLinks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for from, to := range map[string]string{"config.yaml": "second.yaml", "second.yaml": "real/config.yaml", ".env": "real/env", "self.yaml": "self.yaml"} {
		if err := os.Symlink(to, filepath.Join(w.dir, from)); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Mkdir(filepath.Join(w.dir, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	args := []string{"init", "--yes", "--owner", "telegram:1001", "--api-url", "telegram=" + w.tg.URL(), "--token", "telegram=" + w.tg.Token()}
	if out, code := w.cli(args...); code != 0 {
		t.Fatalf("exit %d, %s", code, out)
	}
	for link, file := range map[string]string{"config.yaml": "real/config.yaml", "second.yaml": "real/config.yaml", ".env": "real/env"} {
		if _, err := os.Readlink(filepath.Join(w.dir, link)); err != nil {
			t.Errorf("%s is no link any more: %v", link, err)
		}
		if b, err := os.ReadFile(filepath.Join(w.dir, file)); err != nil || len(b) == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	if out, code := w.cli("check"); code != 0 {
		t.Errorf("check: exit %d, %s", code, out)
	}
	cmd := w.command("--config", "self.yaml", "init", "--yes", "--force")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "self.yaml") {
		t.Errorf("a link to itself: %v, %s", err, out)
	}
}

// TestInitRefusals: what would lose something, or make nothing that works.
func TestInitRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	path := filepath.Join(w.dir, "config.yaml")
	telegram := []string{"--yes", "--api-url", "telegram=" + w.tg.URL(), "--token"}
	if out, code := w.cli(append([]string{"init"}, append(telegram, "telegram=999:not-a-token")...)...); code != exitRefused || !strings.Contains(out, "rejected the token") {
		t.Errorf("a wrong token: exit %d, %s", code, out)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a configuration was written: %v", err)
	}
	if out, err := w.answering([]string{"Ada", "none"}); err == nil || !strings.Contains(out, "nothing was written") {
		t.Errorf("answers that end: %v, %s", err, out)
	}
	if out, code := w.cli(append([]string{"init", "--inline", "--owner", "telegram:1001"}, append(telegram, "telegram="+w.tg.Token())...)...); code != 0 {
		t.Fatalf("with flags: exit %d, %s", code, out)
	}
	was, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(was, []byte(w.tg.Token())) || !bytes.Contains(was, []byte(`"telegram:1001"`)) {
		t.Errorf("inline: %v\n%s", err, was)
	}
	if out, code := w.cli("init", "--yes"); code != exitUsage || !strings.Contains(out, "--force") {
		t.Errorf("over a file: exit %d, %s", code, out)
	}
	if out, err := w.answering([]string{"n"}); err == nil || !strings.Contains(out, "was left") {
		t.Errorf("over a file, and no: %v, %s", err, out)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(was, now) {
		t.Errorf("the file was changed: %v", err)
	}
	if out, err := w.answering([]string{"y", "Bea", "none", "", "", "n"}); err != nil {
		t.Errorf("over a file, and yes: %v, %s", err, out)
	}
	if old, err := os.ReadFile(path + ".old"); err != nil || !bytes.Equal(was, old) {
		t.Errorf("the old file is not kept: %v", err)
	}
	second, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	env := filepath.Join(w.dir, ".env")
	if err := os.WriteFile(env, []byte("MINE=1\nTELEGRAM_TOKEN=mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	again := slices.Concat([]string{"init", "--force"}, telegram, []string{"telegram=" + w.tg.Token()})
	if out, code := w.cli(slices.Concat(again, []string{"--channel", "discord"})...); code == 0 {
		t.Errorf("answers that make no configuration: exit %d, %s", code, out)
	}
	if now, err := os.ReadFile(env); err != nil || string(now) != "MINE=1\nTELEGRAM_TOKEN=mine\n" {
		t.Errorf("the variables were changed before the answers were checked: %v, %s", err, now)
	}
	if out := fromCLI[initialised](w, again...); len(out.Kept) != 2 || !strings.HasSuffix(out.Kept[1], "config.yaml.old.2") || out.Env != env {
		t.Errorf("once more: %+v", out)
	}
	for name, want := range map[string]string{"config.yaml.old": string(was), "config.yaml.old.2": string(second), ".env.old": "MINE=1\nTELEGRAM_TOKEN=mine\n"} {
		if got, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(got) != want {
			t.Errorf("%s is not kept: %v", name, err)
		}
	}
	if got, err := os.ReadFile(env); err != nil || !strings.HasPrefix(string(got), "MINE=1\n") || strings.Contains(string(got), "=mine") {
		t.Errorf("the variables: %v", err)
	}
	self, _, _ := strings.Cut(w.tg.Token(), ":")
	for owner, why := range map[string]string{"ada!": "use a numeric id", "*": "use a numeric id", "-100500": "this is the id of a group", self: "this is the id of the bot itself"} {
		if out, code := w.cli("init", "--yes", "--force", "--api-url", "telegram="+w.tg.URL(), "--token", "telegram="+w.tg.Token(), "--owner", "telegram:"+owner); code != exitUsage || !strings.Contains(out, why) {
			t.Errorf("the owner %s, that is none: exit %d, %s", owner, code, out)
		}
	}
	if err := os.WriteFile(filepath.Join(w.dir, "owners.yaml"), []byte("channels: {telegram: {token: \"111:AAA\"}}\ncommands: {ownerAllowFrom: [\"telegram:1001\", \"telegram:-100500\", \"telegram:111\"]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, code := w.cli("--config", "owners.yaml", "check"); code != 0 || !strings.Contains(out, "is the id of a group; every anonymous administrator of the group is an owner") || !strings.Contains(out, "is the bot itself, which is never an owner") || strings.Contains(out, "1001") {
		t.Errorf("check: exit %d, %s", code, out)
	}
}

// TestInitFlags: each flag answers its question, which is not asked then; a wrong value is named with its flag, and leaves the question open.
func TestInitFlags(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env = []string{"OLLAMA_HOST=127.0.0.1:1"}
	bot := []string{"--api-url", "telegram=" + w.tg.URL(), "--state", "state"}
	out, err := w.answering([]string{"none", "", "n"}, append(bot, "--name", "Ada", "--token", "telegram="+w.tg.Token(), "--owner", "telegram:1001", "--inline")...)
	if err != nil || strings.Contains(out, "What is your agent called") || strings.Contains(out, "Token for telegram") || strings.Contains(out, "Press Enter to skip, or type your id") || strings.Contains(out, ".env of their own") {
		t.Errorf("%v: %s", err, out)
	}
	if b, err := os.ReadFile(filepath.Join(w.dir, "config.yaml")); err != nil || !bytes.Contains(b, []byte(`name: "Ada"`)) || !bytes.Contains(b, []byte(`"telegram:1001"`)) || !bytes.Contains(b, []byte("token: \""+w.tg.Token())) {
		t.Errorf("%v: %s", err, b)
	}
	out, err = w.answering([]string{"none", w.tg.Token(), "", "n", "olga!", "1001", "y"}, append(bot, "--force", "--name", "Ada", "--token", "telegram=999:not-a-token", "--owner", "telegram:olga!", "--model", "zebra/z")...)
	for _, want := range []string{"--token telegram: The platform telegram rejected the token", "--owner telegram:olga!: use a numeric id such as 1001", "--model zebra/z: no server of \"zebra\" was found", `"olga!" is not an id on telegram: use a numeric id such as 1001`,
		"Your own id on telegram; press Enter to skip"} {
		if err != nil || !strings.Contains(out, want) {
			t.Errorf("no %q, %v: %s", want, err, out)
		}
	}
	if b, err := os.ReadFile(filepath.Join(w.dir, "config.yaml")); err != nil || !bytes.Contains(b, []byte(`"telegram:1001"`)) {
		t.Errorf("%v: %s", err, b)
	}
	if out, code := w.cli("init", "--force", "--name", "A", "--model", "openai/gpt-5.1", "--token", "telegram="+w.tg.Token(), bot[0], bot[1], "--owner", "telegram:1001"); code != exitUsage || !strings.Contains(out, "\n  OPENAI_API_KEY           the key of openai/gpt-5.1, as a variable of the environment") {
		t.Errorf("without a key: exit %d, %s", code, out)
	}
	if out, err := w.answering([]string{"Ada", "none"}, append(bot, "--force")...); err == nil || strings.Contains(out, "--model PROVIDER") || strings.Contains(out, "--name NAME") {
		t.Errorf("what was answered is missing: %v, %s", err, out)
	}
	if out, code := w.cli("init", "--yes", "--force", "--model", "none", "--owner", "telegram:1001", "--api-url", "discord=http://127.0.0.1:1"); code != 0 || strings.Contains(out, "no language model") ||
		!strings.Contains(out, "the owner telegram:1001, but has no account of telegram") || !strings.Contains(out, "--api-url discord is not used") {
		t.Errorf("flags that nothing uses: exit %d, %s", code, out)
	}
	for flag, want := range map[string]string{
		"--owner=telegram:olga!":     "--owner telegram:olga!: use a numeric id such as 1001",
		"--owner=1001":               "--owner 1001: write CHANNEL:ID, for example telegram:1001",
		"--owner=zebra:1001":         `--owner zebra:1001: there is no channel "zebra"; the channels are telegram, discord, whatsapp`,
		"--token=telegram=@nofile":   "--token telegram=@nofile: open ",
		"--token=telegram=$NOTHING":  "--token telegram=$NOTHING: the variable NOTHING is not set",
		"--token=whatsapp=xx":        "--token whatsapp: the channel has no token; use --channel whatsapp",
		"--api-url=zebra=http://x":   `--api-url zebra: there is no channel "zebra"`,
		"--api-url=telegram=ftp://x": "--api-url telegram=ftp://x: want an address like https://",
		"--token=zebra=1":            `--token zebra: there is no channel "zebra"`,
		"--channel=zebra":            `--channel zebra: there is no channel "zebra"`,
		"--model=openai/gpt-5.1":     "set OPENAI_API_KEY",
		"--model=ollama/qwen3:8b":    `no server of "ollama" was found; to start Ollama: ollama serve`,
	} {
		if out, code := w.cli("init", "--yes", "--force", flag); code != exitUsage || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, %s", flag, code, out)
		}
	}
}

// A folder that takes no file is named, and not the temporary file.
func TestReplaceFileNamesTheFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "missing")
	if err := replaceFile(filepath.Join(dir, "x.yaml"), nil); err == nil || strings.Contains(err.Error(), ".part") || !strings.Contains(err.Error(), "in the folder "+dir) {
		t.Error(err)
	}
}

// Without a terminal, standard output has the result only, and none when nothing was written.
func TestInitQuestionsWithoutATerminal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cmd := w.command("--config", "config.yaml", "init")
	cmd.Stdin = strings.NewReader("Ada\n")
	if out, err := cmd.Output(); err == nil || len(out) != 0 {
		t.Errorf("%v: %q", err, out)
	}
}
