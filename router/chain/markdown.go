package chain

import (
	"fmt"
	"strings"
)

// Markdown is the protocol as a table for people.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| after | when | what follows | rule |\n|---|---|---|---|\n")
	for _, r := range Protocol() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", strings.Join(r.From, ", "), r.When, r.Then, r.Name)
	}
	return b.String()
}
