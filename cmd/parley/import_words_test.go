package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/gateway/openclaw/report"
)

// manySessions is the report of an import of n sessions, most of which have something to say.
func manySessions(n int) imported {
	out := imported{program: "parley", From: "/home/u/.openclaw", State: "/home/u/state", Config: importedConfig, DryRun: true}
	for i := range n {
		key := fmt.Sprintf("session agent:main:telegram:direct:%d", i)
		out.Carry(key, "")
		out.Differ(fmt.Sprintf("%s: %d summaries", key, i), "all messages are carried over instead")
		out.Differ(fmt.Sprintf("%s: %d images", key, i), "left out: too large")
		out.Leave(fmt.Sprintf("agents/main/sessions/%d.jsonl", i), fmt.Sprintf("line %d cannot be read", i))
		out.See(fmt.Sprintf("media/%d.png", i), "a file of OpenClaw")
	}
	out.Need("channels.whatsapp", "link the phone again: parley login whatsapp")
	out.Sort()
	out.Sessions, out.Messages = n, 50*n
	return out
}

// A person reads the report of a thousand sessions: what needs them comes first, and the rest is counted.
func TestImportWords(t *testing.T) {
	t.Parallel()
	print := func(c importOpenClawCmd, out imported) string {
		var b bytes.Buffer
		importWords(&page{out: &b}, c, out)
		return b.String()
	}
	out := manySessions(1000)
	dry := print(importOpenClawCmd{Dir: out.From}, out)
	if n := strings.Count(dry, "\n"); n > 100 {
		t.Errorf("%d lines", n)
	}
	at := -1
	for _, part := range []string{"Needs you (1)\n", "channels.whatsapp", "Open to more people than before (should be empty): nothing\n", "Different now (2000)\n", "direct:0: 0 summaries", " more\n      all messages",
		"Left out (1000)\n", "… and 980 more (--verbose", "Also in this folder (1000)\n", "media/0.png, media/1.png", "1000 sessions with 50000 messages. Lines carried over: 1000", "Dry run: nothing was written.",
		"openclaw gateway stop", "409", "parley import openclaw /home/u/.openclaw --use", "/home/u/state", importedConfig} {
		i := strings.Index(dry, part)
		if i <= at {
			t.Fatalf("%q is not behind what comes before it:\n%s", part, dry)
		}
		at = i
	}
	all := print(importOpenClawCmd{Verbose: true}, out)
	for _, part := range []string{"direct:999: 999 images\n", "line 999 cannot be read", "Carried over (1000)\n", "media/999.png\n"} {
		if !strings.Contains(all, part) {
			t.Errorf("--verbose lacks %q", part)
		}
	}
	out.DryRun, out.Same, out.Written = false, 1000, []string{"/home/u/state"}
	done := print(importOpenClawCmd{Write: true, Dir: out.From}, out)
	if n := strings.Count(done, "\n"); n > 20 || !strings.Contains(done, "Lines different now: 2000; left out: 1000; also in this folder: 1000; carried over: 1000") ||
		!strings.Contains(done, "Sessions: 0 new, 0 with new messages, 1000 there already. Messages added: 0.\n") || !strings.Contains(done, "--config-only --use\n") {
		t.Errorf("%d lines:\n%s", n, done)
	}
}

// The bar shows how far the work is, at most ten times a second, within the width of the terminal, and leaves nothing behind.
func TestProgressBar(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	now := time.Unix(0, 0)
	bar := &progressBar{out: &b, width: 60, now: func() time.Time { return now }}
	bar.begin("Writing sessions")
	for n := range 1000 {
		bar.set(n, 1000)
		now = now.Add(time.Millisecond)
	}
	drawn := strings.Split(b.String(), "\r")[1:]
	if len(drawn) < 5 || len(drawn) > 11 || !strings.Contains(drawn[len(drawn)-1], " of 1000") {
		t.Errorf("%q", drawn)
	}
	for _, line := range drawn {
		if columns(strings.TrimSuffix(line, "\x1b[K")) >= 60 {
			t.Errorf("%q is too wide", line)
		}
	}
	b.Reset()
	bar.end()
	bar.end()
	if b.String() != "\r\x1b[K" {
		t.Errorf("the end: %q", b.String())
	}
	var none progressBar
	none.now = time.Now
	none.begin("Reading")
	none.set(1, 2)
	none.end()
}

// A thing is named even when it is long, and what is not named is counted.
func TestFewNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*maxNamesLine)
	for want, names := range map[string][]string{"a": {"a"}, "a, b": {"a", "b"}, "1, 2, 3, 4, 5 and 2 more": {"1", "2", "3", "4", "5", "6", "7"}, long + " and 1 more": {long, "b"}} {
		if got := fewNames(names); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if g := report.Groups(nil); len(g) != 0 {
		t.Errorf("%v", g)
	}
}
