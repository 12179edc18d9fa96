package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/router/rights"
)

// TestToolPolicy runs a host whose group is denied a tool and whose strangers are denied another: the request that the model gets has
// what the turn may use, files stay in the workspace, fetch does not reach this machine, and `parley tools explain` names the key.
func TestToolPolicy(t *testing.T) {
	t.Parallel()
	private := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, "the inside") }))
	t.Cleanup(private.Close)
	w := newWorld(t)
	p := &puppet{}
	w.model.Script(p.answer)
	w.tg.AddGroup(group, "Garden")
	write := func(allowPrivate bool) {
		w.config(fmt.Sprintf("    dmPolicy: allowlist\n    allowFrom: [%d]\n    groupPolicy: open\n    groups: {\"%d\": {requireMention: false, tools: {deny: [recall]}}}\n", guest, group),
			fmt.Sprintf("tools: {bySender: {other: {deny: [files]}}, sandbox: {tools: {deny: [fetch]}}, fetch: {allowPrivate: %t}}\n", allowPrivate))
	}
	write(false)
	host := w.start()
	inGroup := "agent:main:telegram:group:" + fmt.Sprint(group)
	step := func(action, path, content string) string {
		return use("files", map[string]string{"action": action, "path": path, "content": content})
	}
	get := use("fetch", map[string]string{"url": private.URL})
	w.tg.Say(owner, owner, program(get, step("write", "a/note.txt", "milk"), step("write", "../out.txt", "x"), step("read", "a/note.txt", ""), say("done")))
	w.sent(owner, 1)
	if r := told[outcome](w, "agent:main:main", "fetch", 1); r.Status != "forbidden" || !strings.Contains(r.Error, "allowPrivate") {
		t.Errorf("fetch of this machine: %+v", r)
	}
	if r := told[outcome](w, "agent:main:main", "files", 2); r.Status != "forbidden" {
		t.Errorf("a path that leads out: %+v", r)
	}
	if b, err := os.ReadFile(filepath.Join(w.dir, "state", "workspace", "main", "a", "note.txt")); err != nil || string(b) != "milk" {
		t.Errorf("%q, %v", b, err)
	}
	if found, err := filepath.Glob(filepath.Join(w.dir, "state", "workspace", "*.txt")); err != nil || len(found) != 0 {
		t.Errorf("outside of the workspace: %v, %v", found, err)
	}

	w.tg.Say(group, owner, say("hello"))
	w.sent(group, 1)
	w.tg.Say(group, guest, say("hello too"))
	w.sent(group, 2)
	turns := w.asked(inGroup, "turn", 2)
	byOwner, byGuest := turns[0].toolNames(), turns[1].toolNames()
	if slices.Contains(byOwner, "recall") || !slices.Contains(byOwner, "files") || !slices.Contains(byOwner, "remember") {
		t.Errorf("the owner's turn in the group has %q", byOwner)
	}
	if want := without(byOwner, "files"); !slices.Equal(byGuest, want) {
		t.Errorf("the guest's turn in the group has %q, not %q", byGuest, want)
	}
	table := fromCLI[rights.ToolTable](w, "tools", "explain", "--session", inGroup, "--sender", fmt.Sprint(guest))
	var permitted []string
	for _, x := range table.Tools {
		if x.Verdict.Allowed() {
			permitted = append(permitted, x.Name)
		}
	}
	if slices.Sort(permitted); !slices.Equal(permitted, byGuest) {
		t.Errorf("explained: %q, had: %q", permitted, byGuest)
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"channels.telegram.groups.-100500.tools.deny[0]", []string{"recall", "--session", inGroup}},
		{"tools.bySender.other.deny[0]", []string{"files", "--sender", "other"}},
		{"files: ALLOW", []string{"files", "--sender", "owner"}},
		{"tools.sandbox.tools.deny[0]", []string{"fetch", "--sandboxed"}},
		{"a sub-agent has no session tools", []string{"sessions_list", "--subagent"}},
		{"the host has no such tool now", []string{"git_log"}},
		{"there is no agent", []string{"--agent", "nobody"}},
	} {
		if out, _ := w.cli(append([]string{"tools", "explain"}, c.args...)...); !strings.Contains(out, c.says) {
			t.Errorf("explain %v: %s", c.args, out)
		}
	}
	if out, code := w.cli("tools", "explain", "git_log"); code != exitMissing || strings.Contains(out, "ALLOW") {
		t.Errorf("a tool that there is not: exit %d: %s", code, out)
	}
	if out, code := w.cli("tools"); code != 0 || !strings.Contains(out, "fetch") || !strings.Contains(out, "parley") {
		t.Errorf("exit %d: %s", code, out)
	}
	host.stop()
	write(true)
	w.start()
	w.tg.Say(owner, owner, program(get, say("done")))
	w.sent(owner, 2)
	var r struct{ TextFromOutside string }
	rs := w.results("agent:main:main", "fetch")
	if err := json.Unmarshal([]byte(rs[len(rs)-1].Text), &r); err != nil || r.TextFromOutside != "the inside" {
		t.Errorf("%v: %s", err, rs[len(rs)-1].Text)
	}
}
