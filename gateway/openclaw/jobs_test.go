package openclaw

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"parley/gateway/openclaw/report"
	"parley/gateway/openclaw/source"
)

// A shell gives the words of a command to parley as they are in the job.
func TestCommandsOfJobs(t *testing.T) {
	t.Parallel()
	for _, j := range []Job{
		{Name: "it's", Cron: "0 9 * * 1-5", Zone: "Europe/Berlin", To: "last", Message: "say $HOME `x` \"y\" it's\nnew", Model: "openai/x"},
		{Every: time.Hour, Message: "--off", Off: true, Timeout: time.Minute, Thinking: "low", Agent: "main"},
		{At: "2099-01-01T00:00:00Z", Message: "x"},
	} {
		out, err := exec.Command("sh", "-c", "printf '%s\\000' "+j.Command()).Output()
		if err != nil {
			t.Skip("there is no shell: ", err)
		}
		words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		want := []string{"parley", "cron", "add"}
		for _, f := range [][2]string{{"name", j.Name}, {"at", j.At}, {"every", span(j.Every)}, {"cron", j.Cron}, {"zone", j.Zone}, {"agent", j.Agent}, {"to", j.To}, {"model", j.Model}, {"thinking", j.Thinking}, {"timeout", span(j.Timeout)}} {
			if f[1] != "" {
				want = append(want, "--"+f[0]+"="+f[1])
			}
		}
		if j.Off {
			want = append(want, "--off")
		}
		if diff := cmp.Diff(append(want, "--", j.Message), words); diff != "" {
			t.Error(diff)
		}
	}
}

// source: openclaw/openclaw docs/automation/cron-jobs.md, "Telegram delivery targets"; docs/channels/discord.md (user:, channel:)
func TestTargetsOfJobs(t *testing.T) {
	t.Parallel()
	for in, want := range map[source.JobTarget]string{
		{}: "", {Last: true}: "last",
		{Channel: "telegram", To: "1001"}: "telegram/default/direct/1001", {Channel: "telegram", To: "telegram:1001", Account: "Biz"}: "telegram/biz/direct/1001",
		{Channel: "telegram", To: "-1001234567890:topic:123"}: "telegram/default/group/-1001234567890/123", {Channel: "telegram", To: "-1001234567890:123"}: "telegram/default/group/-1001234567890/123",
		{Channel: "telegram", To: "telegram:group:-1001234567890:topic:123"}: "telegram/default/group/-1001234567890/123", {To: "telegram:-100500"}: "telegram/default/group/-100500",
		{Channel: "discord", To: "user:77"}: "discord/default/direct/77", {Channel: "discord", To: "channel:88"}: "discord/default/channel/88",
		{Channel: "whatsapp", To: "+15550001"}: "whatsapp/default/direct/+15550001", {Channel: "whatsapp", To: "1@g.us"}: "whatsapp/default/group/1@g.us",
		{Channel: "telegram"}: "-", {To: "1001"}: "-", {Channel: "telegram", To: "@ann"}: "-", {Channel: "slack", To: "channel:C1"}: "-", {Channel: "telegram", To: "group:x"}: "-", {Channel: "discord", To: "#general"}: "-",
	} {
		got, why := address(table(), in)
		if want == "-" {
			if got != "" || why == "" {
				t.Errorf("%+v: %q, %q", in, got, why)
			}
		} else if got != want || why != "" {
			t.Errorf("%+v: %q, want %q (%s)", in, got, want, why)
		}
	}
}

// TestModelsOfJobs: a job's model has the name that it has in the configuration, or the report says why it has none.
// source: openclaw/openclaw docs/help/faq-models.md, "What is the default model?"
func TestModelsOfJobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "cron"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"openclaw.json": `{models: {providers: {lm: {baseUrl: "http://127.0.0.1:1234/v1", models: [{id: "qwen"}]}, bad: {baseUrl: "lm:80", apiKey: "k"}}}, agents: {defaults: {model: "lm/qwen"}}}`,
		"cron/jobs.json": `[{"id": "1", "name": "a", "schedule": "@daily", "payload": {"message": "x", "model": "qwen"}}, {"id": "2", "name": "b", "schedule": "@daily", "payload": {"message": "x", "model": "bad/m"}},
			{"id": "3", "name": "c", "schedule": "@daily", "payload": {"message": "x", "model": "mystery"}}, {"id": "4", "name": "d", "schedule": "@daily", "payload": {"message": "x", "model": "Z.ai/glm"}}]`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := read(t, dir)
	for i, want := range []string{"lm/qwen", "", "", "zai/glm"} {
		told := slices.ContainsFunc(r.Report.NeedsYou, func(l report.Item) bool {
			return l.What == r.Jobs[i].What && strings.Contains(l.Why, "cannot be used, so the agent's model answers")
		})
		if r.Jobs[i].Model != want || told != (want == "") {
			t.Errorf("%+v: want the model %q; told: %t", r.Jobs[i], want, told)
		}
	}
}

// A secret in the message of a job is not in the report. The job itself has it.
func TestSecretsInJobs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"openclaw.json": `{channels: {telegram: {botToken: "123:made-up-secret"}}}`, ".env": "MAIL_PASSWORD=made-up-password\n",
		"cron/jobs.json": `[{"id": "1", "name": "a", "schedule": "@daily", "payload": {"message": "Log in with made-up-password and 123:made-up-secret"}},
			{"id": "2", "name": "b", "schedule": "@daily", "payload": {"message": "Use sk-made-up-secret-0123456789 now"}}]`,
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Read(t.Context(), dir, table(), none, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	if said := fmt.Sprint(r.Report); strings.Contains(said, "made-up") || strings.Count(said, "--jobs imports the whole message") != 2 {
		t.Errorf("%s", said)
	}
	if len(r.Jobs) != 2 || r.Jobs[0].Message != "Log in with made-up-password and 123:made-up-secret" {
		t.Errorf("%+v", r.Jobs)
	}
}

// A job of an agent over ACP, named or by default, is not given to another agent, which may have other tools.
func TestJobsOfACPAgents(t *testing.T) {
	t.Parallel()
	for agents, want := range map[string][]string{
		`[{"id": "main"}, {"id": "x", "runtime": {"type": "acp"}}]`:                  {"job none", "job main"},
		`[{"id": "main"}, {"id": "x", "default": true, "runtime": {"type": "acp"}}]`: {"job main"},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "cron"), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string]string{"openclaw.json": `{"agents": {"list": ` + agents + `}}`, "cron/jobs.json": `[{"id": "1", "name": "none", "schedule": "@daily", "payload": {"message": "a"}},
			{"id": "2", "name": "main", "agentId": "main", "schedule": "@daily", "payload": {"message": "a"}}, {"id": "3", "name": "x", "agentId": "X", "schedule": "@daily", "payload": {"message": "a"}}]`} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := read(t, dir)
		var got []string
		for _, j := range r.Jobs {
			got = append(got, j.What)
		}
		if !slices.Equal(got, want) || strings.Count(fmt.Sprint(r.Report.NeedsYou), "over ACP") < 3-len(want) {
			t.Errorf("%s: %q, %+v", agents, got, r.Report.NeedsYou)
		}
	}
}

// The same job twice is one, and two jobs of one name are two lines.
func TestJobsOfOneName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "cron"), 0o700); err != nil {
		t.Fatal(err)
	}
	const a, b = `{"name": "daily", "schedule": "@daily", "payload": {"message": "a"}}`, `{"name": "daily", "schedule": "@daily", "payload": {"message": "b"}}`
	for name, content := range map[string]string{"openclaw.json": "{}", "cron/jobs.json": "[" + a + "," + a + "," + b + "," + b + "]"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := read(t, dir)
	if len(r.Jobs) != 2 || r.Jobs[0].What != "job daily" || r.Jobs[1].What != "job daily (2)" || strings.Count(fmt.Sprint(r.Report.NeedsYou), "parley cron add") != 2 {
		t.Errorf("%+v, %+v", r.Jobs, r.Report.NeedsYou)
	}
}

// Persona becomes instructions, memory becomes notes that only the main session sees, and HEARTBEAT.md becomes a job.
func TestPersonaAndMemory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"openclaw.json":                             `{agents: {list: [{id: "main", default: true}, {id: "Helper Two"}]}, channels: {telegram: {enabled: false}}}`,
		"workspace/IDENTITY.md":                     "# IDENTITY\n\nName: Ada ${HOME}",
		"workspace/USER.md":                         "Call me Olga.",
		"workspace/MEMORY.md":                       "# House\n\nThe key is under the pot.",
		"workspace/HEARTBEAT.md":                    "Look at the mail.",
		"workspace-Helper Two/memory/2026-01-02.md": "Beans were planted.",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Read(t.Context(), dir, table(), none, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(r.Config), "Name: Ada $${HOME}") || !strings.Contains(string(r.Config), "Call me Olga.") {
		t.Errorf("%s", r.Config)
	}
	var notes []string
	for _, n := range r.Notes {
		notes = append(notes, string(n.Agent)+" "+string(n.Key)+" "+n.Text)
	}
	if want := []string{"helper-two agent:helper-two:main 2026-01-02: Beans were planted.", "main agent:main:main MEMORY: House: The key is under the pot."}; !slices.Equal(notes, want) {
		t.Errorf("%q", notes)
	}
	if len(r.Jobs) != 1 || r.Jobs[0].Every != 30*time.Minute || r.Jobs[0].To != "" || r.Jobs[0].Agent != "main" {
		t.Errorf("%+v", r.Jobs)
	}
	if !slices.ContainsFunc(r.Report.NeedsYou, func(i report.Item) bool {
		return i.What == r.Jobs[0].What && strings.Contains(i.Why, "parley cron add")
	}) {
		t.Errorf("%+v", r.Report.NeedsYou)
	}
}
