package tools

import (
	"os"
	"path"
	"slices"
	"strings"
)

// PromptFiles are the files of a workspace that become part of what its agent is told. The agent may read them; only people change
// them, so that no text from outside becomes an instruction by way of a file.
var PromptFiles = []string{"INSTRUCTIONS.md", "PERSONA.md", "AGENTS.md", "SOUL.md"}

// ofPrompt reports whether a change at a path would change what the agent is told: it is such a file, is or would be below one, is a
// link on the way to one, or is the same file by another name. Names count in any case, for file systems that do not tell case apart.
func (w workspace) ofPrompt(name string) bool {
	way := w.way(path.Dir(name))
	at := path.Join(way[len(way)-1], path.Base(name))
	info, missing := w.root.Lstat(at)
	return slices.ContainsFunc(PromptFiles, func(f string) bool {
		return slices.ContainsFunc(w.way(f), func(p string) bool {
			parts, n := strings.Split(at, "/"), strings.Count(p, "/")+1
			if len(parts) >= n && strings.EqualFold(strings.Join(parts[:n], "/"), p) {
				return true
			}
			other, err := w.root.Lstat(p)
			return missing == nil && err == nil && os.SameFile(info, other)
		})
	})
}

// longestWay is how many links a path may lead over, as for Linux.
const longestWay = 40

// way gives the links that a path leads over and, last, where it ends, whether there is something or not: paths that lead over no links.
// It ends at a link that leads out of the workspace, which nothing follows.
func (w workspace) way(name string) (out []string) {
	at := "."
	for rest := strings.Split(name, "/"); len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == ".." && at == "." {
			return out
		}
		next := path.Join(at, part) // at has no links, so .. is the folder above
		to, err := w.root.Readlink(next)
		if err != nil {
			at = next
			continue
		}
		if out = append(out, next); path.IsAbs(to) || len(out) > longestWay {
			return out
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return append(out, at)
}
