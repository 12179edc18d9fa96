package config

import (
	"strings"

	"parley/policy"
)

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
