package config

import (
	"fmt"
	"slices"
	"strings"

	"parley/policy"
	"parley/router/settings"
)

// stopWords reports languages whose stop words are not known.
func (k *checker) stopWords() {
	known := settings.StopLanguages()
	for i, l := range k.config.Messages.StopWords.Languages {
		if !slices.Contains(known, l) {
			k.wrong(fmt.Sprintf("messages.stopWords.languages[%d]", i), fmt.Sprintf("the usual words of %.20q are not known, only of %s", l, strings.Join(known, ", ")), "list your own under messages.stopWords.words")
		}
	}
}

// mentions reports patterns that are no regular expressions, or match everything: nothing of them counts as a mention. at is the
// path of what holds mentionPatterns.
func (k *checker) mentions(at string, patterns []string) {
	_, bad := policy.Mentions(patterns)
	for _, p := range bad {
		if strings.Contains(p.Message, "matches every message") {
			k.wrong(at+p.Path, "matches every message, so it tells nothing", "requireMention: false answers everything in a group")
		} else {
			k.wrong(at+p.Path, "is not a regular expression", "put it in single quotes; special characters need a \\")
		}
	}
}
