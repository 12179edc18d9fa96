package source

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Schedule, zone, message, model and target map one to one.
//
// source: openclaw/openclaw src/cron/types.ts, docs/automation/cron-jobs.md "JSON schema for tool calls"; the older forms (atMs, deliver, channel in the payload) are of January 2026
func TestJobs(t *testing.T) {
	t.Parallel()
	s, r := load(t, map[string]string{
		"openclaw.json": `{}`,
		"cron/jobs.json": `{"version": 1, "jobs": [
			{"id": "1", "name": "Morning brief", "agentId": "main", "enabled": true, "schedule": {"kind": "cron", "expr": "0 7 * * *", "tz": "America/Los_Angeles"}, "sessionTarget": "isolated", "wakeMode": "next-heartbeat",
				"payload": {"kind": "agentTurn", "message": "Summarize overnight updates.", "model": "opus", "thinking": "xhigh", "timeoutSeconds": 60}, "delivery": {"mode": "announce", "channel": "telegram", "to": "-1001234567890:topic:123", "accountId": "work"}},
			{"id": "2", "name": "Reminder", "schedule": {"kind": "at", "at": "2099-02-01T16:00:00Z"}, "sessionTarget": "main", "payload": {"kind": "systemEvent", "text": "Reminder text"}, "deleteAfterRun": true},
			{"id": "3", "name": "old", "schedule": {"kind": "at", "atMs": 4073486400000}, "payload": {"kind": "agentTurn", "message": "x", "deliver": true, "channel": "whatsapp", "to": "+15550001"}},
			{"id": "4", "enabled": false, "schedule": {"kind": "every", "everyMs": 1000}, "payload": {"message": "fast", "deliver": false}},
			{"id": "5", "name": "six", "schedule": {"kind": "cron", "expr": "0 */5 * * * *"}, "payload": {"message": "x"}, "delivery": {"mode": "webhook", "to": "https://example.com/made-up-secret"}},
			{"id": "6", "name": "plain", "schedule": "@daily", "payload": {"message": "x"}, "delivery": {"mode": "none"}},
			{"id": "1", "name": "twice", "schedule": "@daily", "payload": {"message": "x"}},
			{"id": "7", "name": "local time", "schedule": {"at": "2099-01-02 03:04"}, "payload": {"message": "x"}, "delivery": {"channel": "last"}},
			{"id": "13", "name": "announced", "schedule": "@daily", "payload": {"message": "x"}, "delivery": {"mode": "announce"}},
			{"id": "14", "name": "of a channel", "schedule": "@daily", "payload": {"message": "x"}, "delivery": {"mode": "announce", "channel": "telegram"}},
			{"id": "8", "name": "past", "schedule": {"at": "2020-01-02T03:04:00Z"}, "payload": {"message": "x"}},
			{"id": "9", "name": "odd", "schedule": {"kind": "cron", "expr": "30 * * * * *"}, "payload": {"message": "x"}},
			{"id": "10", "name": "nowhere", "schedule": {"kind": "cron", "expr": "* * * * *", "tz": "Mars/Base"}, "payload": {"message": "x"}},
			{"id": "11", "name": "silent", "schedule": "@daily", "payload": {}}, {"id": "12", "name": "never", "payload": {"message": "x"}}, 7]}`,
	}, nil, fakeTables{"state/openclaw.sqlite cron_jobs": {{"job_json": `{"id": "6", "name": "row", "schedule": {"kind": "every", "everyMs": 3600000}, "payload": {"kind": "agentTurn", "message": "row"}}`}, {"job_json": "{"}}})
	main := "it runs in a session of its own, and not in the main session"
	want := []Job{
		{What: "job row", Name: "row", Message: "row", Every: time.Hour, Notes: []string{staysInSession}},
		{What: "job Morning brief", Name: "Morning brief", Agent: "main", Message: "Summarize overnight updates.", Cron: "0 7 * * *", Zone: "America/Los_Angeles", Model: "opus", Thinking: "high", Timeout: time.Minute,
			To: JobTarget{Channel: "telegram", Account: "work", To: "-1001234567890:topic:123"}, Notes: []string{"thinking xhigh is high now"}},
		{What: "job Reminder", Name: "Reminder", Message: "Reminder text", At: time.Date(2099, 2, 1, 16, 0, 0, 0, time.UTC), Notes: []string{staysInSession, main}},
		{What: "job old", Name: "old", Message: "x", At: time.UnixMilli(4073486400000).UTC(), To: JobTarget{Channel: "whatsapp", To: "+15550001"}},
		{What: "job 4", Message: "fast", Every: time.Minute, Off: true, Notes: []string{"it ran every 1s; the shortest interval of parley is 1m0s"}},
		{What: "job six", Name: "six", Message: "x", Cron: "*/5 * * * *", Notes: []string{"its answer went to a webhook; now it stays in the job's session"}},
		{What: "job local time", Name: "local time", Message: "x", At: time.Date(2099, 1, 2, 3, 4, 0, 0, time.UTC), To: JobTarget{Last: true}},
		{What: "job announced", Name: "announced", Message: "x", Cron: "0 0 * * *", To: JobTarget{Last: true}},
		{What: "job of a channel", Name: "of a channel", Message: "x", Cron: "0 0 * * *", To: JobTarget{Channel: "telegram"}},
	}
	if diff := cmp.Diff(want, s.Jobs); diff != "" {
		t.Error(diff)
	}
	for what, why := range map[string]string{"job odd": "five fields", "job nowhere": "time zone", "job silent": "no message", "job never": "no schedule", "job without a name": "openclaw.sqlite"} {
		if !hasLine(r.NeedsYou, what, why) {
			t.Errorf("no %s (%s) in %+v", what, why, r.NeedsYou)
		}
	}
	if !hasLine(r.Left, "job past", "has passed") {
		t.Errorf("%+v", r.Left)
	}
	noSecret(t, s, r)
}

func TestJobsAreOff(t *testing.T) {
	t.Parallel()
	s, _ := load(t, map[string]string{"openclaw.json": `{cron: {enabled: false, store: "~/.openclaw/mine.json"}}`, "mine.json": `[{"id": "1", "schedule": "@daily", "payload": {"message": "x"}}]`}, nil, nil)
	if len(s.Jobs) != 1 || !s.Jobs[0].Off {
		t.Errorf("%+v", s.Jobs)
	}
	if s, r := load(t, map[string]string{"openclaw.json": `{}`, "cron/jobs.json": `{"jobs": {}}`}, nil, nil); len(s.Jobs) > 0 || !hasLine(r.NeedsYou, "cron/jobs.json", "cannot be read") {
		t.Errorf("%+v", r)
	}
	if s, _ := load(t, map[string]string{"cron/jobs.json": `{"jobs": []}`}, nil, nil); s.Jobs != nil {
		t.Errorf("%+v", s.Jobs)
	}
}

// TestAnchors: a job that counts its interval from a moment keeps its times of day, or says that it does not.
// source: openclaw/openclaw src/cron/schedule.ts (computeNextRunAtMs)
func TestAnchors(t *testing.T) {
	t.Parallel()
	const counts = "it counted its interval from "
	for _, c := range []struct {
		name, schedule, cron string
		every                time.Duration
		note                 string
	}{
		{"daily at 13:30 UTC", `"everyMs": 86400000, "anchorMs": 1774445400000`, "30 13 * * *", 0, ""},
		{"every six hours", `"everyMs": 21600000, "anchorMs": 1774445400000`, "30 1,7,13,19 * * *", 0, ""},
		{"hourly", `"everyMs": 3600000, "anchorMs": 1774445400000`, "30 * * * *", 0, ""},
		{"weekly", `"everyMs": 604800000, "anchorMs": 1774445400000`, "30 13 * * 3", 0, ""},
		{"every 90 minutes", `"everyMs": 5400000, "anchorMs": 1774445400000`, "", 90 * time.Minute, counts + "2026-03-25T13:30:00Z"},
		{"every two days", `"everyMs": 172800000, "anchorMs": 1774445400000`, "", 48 * time.Hour, counts},
		{"not yet begun", `"everyMs": 86400000, "anchorMs": 4073486400000`, "", 24 * time.Hour, counts + "2099"},
		{"no anchor", `"everyMs": 86400000`, "", 24 * time.Hour, ""},
	} {
		s, _ := load(t, map[string]string{"openclaw.json": `{}`,
			"cron/jobs.json": `[{"id": "1", "schedule": {"kind": "every", ` + c.schedule + `}, "payload": {"message": "x"}, "delivery": {"mode": "none"}}]`}, nil, nil)
		if len(s.Jobs) != 1 || s.Jobs[0].Cron != c.cron || s.Jobs[0].Every != c.every || (c.cron != "") != (s.Jobs[0].Zone == "UTC") || !strings.Contains(strings.Join(s.Jobs[0].Notes, " "), c.note) || c.note == "" && len(s.Jobs[0].Notes) > 0 {
			t.Errorf("%s: %+v", c.name, s.Jobs)
		}
	}
}

// TestUnreadableDelivery: an answer whose destination cannot be read goes nowhere, and not to the chat that wrote last.
// source: openclaw/openclaw docs/automation/cron-jobs.md (delivery.mode: none, announce, webhook), src/cron/normalize.ts (deliver)
func TestUnreadableDelivery(t *testing.T) {
	t.Parallel()
	for delivery, last := range map[string]bool{
		`{"mode": "slack", "slackChannel": "ai-news"}`: false, `{"mode": 7}`: false, `"slack"`: false, `["telegram"]`: false,
		`{"mode": "announce", "channel": ["slack"]}`: false, `{"mode": "announce", "to": {"id": 1}}`: false, `{"channel": 5}`: false,
		`{"mode": "Announce"}`: true, `{"mode": "deliver"}`: true, `{"channel": "last"}`: true, `{}`: true,
	} {
		s, _ := load(t, map[string]string{"openclaw.json": `{}`, "cron/jobs.json": `[{"id": "1", "schedule": "@daily", "payload": {"message": "x"}, "delivery": ` + delivery + `}]`}, nil, nil)
		if len(s.Jobs) != 1 || s.Jobs[0].To != (JobTarget{Last: last}) || last == strings.Contains(strings.Join(s.Jobs[0].Notes, " "), "names no chat that parley knows") {
			t.Errorf("%s: %+v", delivery, s.Jobs)
		}
	}
}
