package offline

import "strings"

// The bounds of a summary that is made without a language model.
const (
	summaryLines = 40
	summaryLine  = 200 // bytes of a line
)

// summary keeps the beginnings of the newest lines of what the host wants summed up. Older ones stay in the transcript.
func summary(request string) answer {
	_, text, _ := strings.Cut(request, "The lines:\n\n")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-summaryLines):]
	for i, line := range lines {
		lines[i] = clip(line, summaryLine)
	}
	return say("%s", "The newest lines, cut short:\n"+strings.Join(lines, "\n"))
}
