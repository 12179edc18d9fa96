package web

import (
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"testing"
)

// Every colour that text is written in can be read on every ground that it stands on, in light and in dark: 4.5 to 1 for text, 3 to 1
// for the edges of what can be used (WCAG 2.2, 1.4.3 and 1.4.11).
func TestContrast(t *testing.T) {
	t.Parallel()
	css, err := fs.ReadFile(assets().files, "style.css")
	if err != nil {
		t.Fatal(err)
	}
	tokens := map[string][2]float64{} // name → luminance in light and in dark
	for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\)`).FindAllStringSubmatch(string(css), -1) {
		tokens[m[1]] = [2]float64{luminance(t, m[2]), luminance(t, m[3])}
	}
	grounds := []string{"bg", "raised", "sunken", "tint"}
	checks := map[string]struct {
		least float64
		on    []string
	}{
		"text": {4.5, grounds}, "soft": {4.5, grounds[:3]}, "accent": {4.5, grounds}, "warn": {4.5, grounds[:3]}, "bad": {4.5, grounds[:3]},
		"good": {4.5, grounds[:3]}, "on-accent": {4.5, []string{"accent"}}, "edge": {3, grounds[:2]},
	}
	for name, c := range checks {
		for _, ground := range c.on {
			for i, look := range []string{"light", "dark"} {
				a, ok := tokens[name]
				b, known := tokens[ground]
				if !ok || !known {
					t.Fatalf("--%s or --%s is no token of style.css", name, ground)
				}
				if got := (max(a[i], b[i]) + .05) / (min(a[i], b[i]) + .05); got < c.least {
					t.Errorf("%s: --%s on --%s has a contrast of %.2f, want %.1f", look, name, ground, got, c.least)
				}
			}
		}
	}
}

// luminance is the relative luminance of a colour, as WCAG has it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{.2126, .7152, .0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(n) / 255
		if c <= .03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
