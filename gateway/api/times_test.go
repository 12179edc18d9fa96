package api

import (
	"encoding/json"
	"testing"
	"time"
)

// loop is a type that holds itself.
type loop struct {
	At   time.Time `json:"at,omitzero"`
	More []loop    `json:"more,omitempty"`
}

// Every time is in UTC and to the millisecond, wherever in an answer it stands; texts that look like one stay, and so does what was given.
func TestTimesInOneForm(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 14, 0, 0, 123456789, time.FixedZone("", 2*3600))
	text := at.Format(time.RFC3339)
	given := loop{At: at, More: []loop{{At: at}}}
	for want, v := range map[string]any{
		`"2026-07-01T12:00:00.123Z"`: at,
		`{"at":"2026-07-01T12:00:00.123Z","more":[{"at":"2026-07-01T12:00:00.123Z"}]}`: given,
		`{"more":[{}]}`: &loop{More: []loop{{}}},
		`{"a":["2026-07-01T12:00:00.123Z","2026-07-01T14:00:00+02:00",null]}`: map[string]any{"a": []any{&at, text, nil}},
		`{"at":"` + text + `"}`:       json.RawMessage(`{"at":"` + text + `"}`),
		`"2026-07-01T12:00:00.123Z" `: Some(at),
		`null`:                        nil,
		`[]`:                          []time.Time{},
	} {
		got, err := Marshal(v)
		if want[len(want)-1] == ' ' {
			want = want[:len(want)-1]
		}
		if err != nil || string(got) != want {
			t.Errorf("%v: %s, %v, want %s", v, got, err, want)
		}
	}
	if !given.More[0].At.Equal(at) || given.More[0].At.Location() == time.UTC {
		t.Error("what was given has changed")
	}
}
