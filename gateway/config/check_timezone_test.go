package config

import "testing"

func TestTimezone(t *testing.T) {
	t.Parallel()
	for zone, ok := range map[string]bool{`""`: true, "UTC": true, "Europe/Berlin": true, "Mars/Base": false, "../passwd": false} {
		_, ps, _ := load("agents: {defaults: {timezone: " + zone + "}}\n")
		if bad := len(ps) == 1 && ps[0].Key == "agents.defaults.timezone" && ps[0].Severity == SevereError; bad == ok || ok && len(ps) > 0 {
			t.Errorf("%s: %+v", zone, ps)
		}
	}
}
