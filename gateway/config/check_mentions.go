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
			k.wrong(fmt.Sprintf("messages.stopWords.languages[%d]", i), fmt.Sprintf("parley has no stop words for %.20q, only for %s", l, strings.Join(known, ", ")), "list your own under messages.stopWords.words")
		}
	}
}

// mentions reports patterns that are no regular expressions, or match everything: nothing of them counts as a mention. at is the
// path of what holds mentionPatterns.
func (k *checker) mentions(at string, patterns []string) {
	_, bad := policy.Mentions(patterns)
	for _, p := range bad {
		if strings.Contains(p.Message, "matches every message") {
			k.wrong(at+p.Path, "matches every message", "set requireMention: false to answer every message of a group")
		} else {
			k.wrong(at+p.Path, p.Message, "put it in single quotes; escape special characters with \\")
		}
	}
}
