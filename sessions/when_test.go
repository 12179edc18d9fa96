package sessions

import (
	"strings"
	"testing"
	"time"
)

func TestParseWhen(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 3, 28, 11, 0, 0, 0, time.UTC) // a Saturday, 12:00 in Berlin; the night after it has no 02:30
	for text, want := range map[string]string{
		"2026-12-01 09:00":          "2026-12-01T08:00:00Z",
		" 2026-12-01   9:00 ":       "2026-12-01T08:00:00Z",
		"2026-12-01T09:00":          "2026-12-01T08:00:00Z",
		"2026-12-01T09:00:30":       "2026-12-01T08:00:30Z",
		"2026-12-01T09:00:00+05:00": "2026-12-01T04:00:00Z",
		"2026-12-01T09:00:00Z":      "2026-12-01T09:00:00Z",
		"tomorrow 9:00":             "2026-03-29T07:00:00Z",
		"Tomorrow 02:30":            "2026-03-29T01:30:00Z",
		"today 13:00":               "2026-03-28T12:00:00Z",
		"today 11:00":               "2026-03-28T10:00:00Z", // past: the caller is told
		"13:00":                     "2026-03-28T12:00:00Z",
		"12:00":                     "2026-03-29T10:00:00Z",
		"2026-10-25 02:30":          "2026-10-25T00:30:00Z", // it comes twice: the first
	} {
		if at, err := ParseWhen(text, berlin, noon); err != nil || at.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %v; want %s", text, at.UTC().Format(time.RFC3339), err, want)
		}
	}
	for _, text := range []string{"", "soon", "tomorrow", "2026-12-01", "2026-13-01 09:00", "25:00", "yesterday 9:00", "9"} {
		if at, err := ParseWhen(text, berlin, noon); err == nil || !strings.Contains(err.Error(), "write it as") {
			t.Errorf("%q: %s, %v", text, at, err)
		}
	}
}

func TestComing(t *testing.T) {
	start := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	if times, err := (Job{Cron: "0 9 * * 1-5", Zone: "UTC"}).Coming(start, 3); err != nil || len(times) != 3 || times[0].Format(time.DateOnly) != "2026-03-02" || times[2].Format(time.DateOnly) != "2026-03-04" {
		t.Error(times, err)
	}
	if times, err := (Job{At: start.Add(time.Hour)}).Coming(start, 3); err != nil || len(times) != 1 {
		t.Error(times, err)
	}
	if _, err := (Job{Cron: "0 9 * * *", Zone: "Mars"}).Coming(start, 3); err == nil {
		t.Error("a zone that there is not")
	}
}
