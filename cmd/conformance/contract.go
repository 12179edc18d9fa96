package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

const contractFile = "docs/contract.md"

// promise is one line of the contract.
type promise struct {
	ID      string
	Text    string
	Heading string
}

var promisePattern = regexp.MustCompile(`^- \*\*([A-Z]\d+)\*\* (.+)$`)

// readContract reads a list of promises: "- **K1** what holds", under headings of the second level. Lines that are indented
// belong to the promise above them.
func readContract(path string) ([]promise, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []promise
	heading, open := "", false
	for n, line := range strings.Split(string(data), "\n") {
		if m := promisePattern.FindStringSubmatch(line); m != nil {
			if slices.ContainsFunc(list, func(p promise) bool { return p.ID == m[1] }) {
				return nil, fmt.Errorf("%s:%d: %s is there twice", path, n+1, m[1])
			}
			list, open = append(list, promise{m[1], m[2], heading}), true
			continue
		}
		if open && strings.HasPrefix(line, "  ") {
			list[len(list)-1].Text += " " + strings.TrimSpace(line)
			continue
		}
		open = false
		if h, ok := strings.CutPrefix(line, "## "); ok {
			heading = h
		} else if strings.HasPrefix(line, "- ") {
			return nil, fmt.Errorf("%s:%d: want \"- **ID** promise\"", path, n+1)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no promises", path)
	}
	return list, nil
}
