package config

import (
	"regexp"

	"gopkg.in/yaml.v3"

	"parley/gateway/configfile"
)

var (
	stateLine = regexp.MustCompile(`(?m)^state[ \t]*:[ \t]*["']?([^"'#\r\n]*[^"'#\r\n \t])`)
	topKey    = regexp.MustCompile(`(?m)^([A-Za-z]+)[ \t]*:`)
)

// StateOf gives the state folder of a file that cannot be used as a whole: from what can be read of it, else the usual place. ok is
// false when nobody can tell: the file is not there, or it is the very key state that is written wrongly.
func StateOf(path string, getenv func(string) string) (folder string, ok bool) {
	data, err := configfile.Read(path)
	if err != nil {
		return "", false
	}
	state := ""
	if root, p := document(data); p == nil && root != nil && root.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(root.Content); i += 2 {
			if key, v := root.Content[i].Value, root.Content[i+1]; key == "state" {
				state = v.Value
			} else if likeState(key) {
				return "", false
			}
		}
	} else {
		for _, m := range topKey.FindAllStringSubmatch(string(data), -1) {
			if likeState(m[1]) {
				return "", false
			}
		}
		if m := stateLine.FindStringSubmatch(string(data)); m != nil {
			state = m[1]
		}
	}
	e := expand(state, getenv)
	if e.broken || len(e.missing) > 0 {
		return "", false
	}
	return configfile.StateFolder(e.text, path, getenv), true
}

// likeState reports whether a key was probably meant to be state.
func likeState(key string) bool {
	_, near := closest(key, []string{"state"})
	return near && key != "state"
}
