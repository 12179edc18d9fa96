package config

import (
	"fmt"
	"strings"
	"testing"
)

// Without the key parley has no stop words for all languages count, with an empty list none; an unknown language is an error.
//
// proves: X5
func TestStopWordLanguages(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		languages int // -1 = not set
		problems  int
	}{
		"": {-1, 0}, "messages: {stopWords: {words: [basta]}}\n": {-1, 0}, "messages: {stopWords: {languages: []}}\n": {0, 0},
		"messages: {stopWords: {languages: [de, ja]}}\n": {2, 0}, "messages: {stopWords: {languages: [de, tlh]}}\n": {0, 1},
	} {
		cfg, problems, err := load(text)
		got := c.languages
		if err == nil {
			got = len(cfg.Messages.StopWords.Languages)
			if cfg.Messages.StopWords.Languages == nil {
				got = -1
			}
		}
		wrong := 0
		for _, p := range problems {
			if strings.Contains(fmt.Sprint(p), "messages.stopWords.languages[1]: ") {
				wrong++
			}
		}
		if got != c.languages || wrong != c.problems || (err != nil) != (wrong > 0) {
			t.Errorf("%q: %d languages, %v", text, got, problems)
		}
	}
}
