package offline

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"parley/agent"
	"parley/sessions"
)

// chainStep answers what the host itself asks for: a summary, and of a chain the announce at its end and the turns in which two
// sessions talk back. It reads what the host's prompt offers; a prompt from a person is never one of these.
func chainStep(p agent.Prompt, t turn) (answer, bool) {
	from := t.input.Provenance
	if from == nil || from.Kind == sessions.ExternalUser {
		return answer{}, false
	}
	all := p.System + "\n" + t.input.Text()
	switch {
	case from.Kind == sessions.InternalSystem && from.Tool == agent.SummaryRequest:
		return summary(t.input.Text()), true
	case from.Kind == sessions.InternalSystem && strings.Contains(all, string(agent.AnnounceSkip)):
		return announce(all, t.before), true
	case strings.Contains(p.System, string(agent.ReplySkip)):
		return replyBack(p.System, t), true
	}
	return answer{}, false
}

// labelledPart is one labelled piece of the host's prompt: "Original request: …". It is a JSON string, or goes on until the next label.
var labelledPart = regexp.MustCompile(`(?im)^[ \t>*#-]*(original request|original task|task|round 1 reply|latest reply|your result|sub-agent result|subagent result|result|findings)[ \t*]*:[ \t*]*`)

// parts takes the labelled pieces out of a prompt; a label that comes twice counts once, the first time.
func parts(text string) map[string]string {
	out := map[string]string{}
	at := labelledPart.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		v, _, _ := strings.Cut(text[m[1]:end], "\n\n")
		var quoted string
		name := strings.ToLower(text[m[2]:m[3]])
		if _, again := out[name]; !again {
			if v = strings.TrimSpace(v); json.Unmarshal([]byte(v), &quoted) == nil {
				v = strings.TrimSpace(quoted)
			}
			out[name] = v
		}
	}
	return out
}

// announce words what came of a chain. What was said stands in the transcript, whole; the prompt's words stand in for it. A
// sub-agent's result is passed on as it is; of a request from another session both sides are told.
func announce(prompt string, before []sessions.Message) answer {
	p := parts(prompt)
	if request := p["original request"]; request != "" {
		reply := first(answerTo(request, before), dropNone(p["round 1 reply"]), dropNone(p["latest reply"]))
		if reply == "" {
			return say(string(agent.AnnounceSkip))
		}
		return say("Another session asked me: “%s”\n\nI answered:\n\n%s", plain(request, 200), quote(clip(reply, 1500)))
	}
	result := first(answerTo("", before), dropNone(p["your result"]), dropNone(p["sub-agent result"]), dropNone(p["subagent result"]), dropNone(p["result"]), dropNone(p["findings"]))
	if result == "" {
		return say(string(agent.AnnounceSkip))
	}
	return say("Result:\n%s", clip(result, 3000))
}

// answerTo finds the newest message of a session that begins with these words, and what was answered to it; without words,
// what was said last.
func answerTo(request string, before []sessions.Message) string {
	said, after := "", request == ""
	for _, m := range before {
		switch t := strings.TrimSpace(m.Text()); {
		case request != "" && m.Role == sessions.User && strings.HasPrefix(t, request):
			said, after = "", true
		case m.Role != sessions.Assistant || !after || t == "" || t == string(agent.ReplySkip) || t == string(agent.AnnounceSkip):
		case request == "" || said == "":
			said = t
		}
	}
	return said
}

// dropNone drops the host's words for "there is none".
func dropNone(s string) string {
	if l := strings.ToLower(strings.Trim(s, "(). ")); l == "not available" || l == "no output" || l == "none" {
		return ""
	}
	return s
}

func first(texts ...string) string {
	for _, t := range texts {
		if t = strings.TrimSpace(t); t != "" {
			return t
		}
	}
	return ""
}

var turnNumber = regexp.MustCompile(`(?i)\bturn\W{1,3}(\d+)`)

// thanks is the one answer to a reply that came back.
const thanks = "Thank you, that answers it."

// replyBack answers a reply once and then ends the talk: two offline models would otherwise thank each other to the last turn.
func replyBack(system string, t turn) answer {
	if m := turnNumber.FindStringSubmatch(system); m != nil {
		if n, err := strconv.Atoi(m[1]); err != nil || n != 1 {
			return say(string(agent.ReplySkip))
		}
		return say(thanks)
	}
	for i, m := range t.before {
		if m.Role == sessions.User && m.Provenance != nil && m.Provenance.Kind == sessions.InterSession && m.Provenance.Source == t.input.Provenance.Source {
			for _, a := range t.before[i+1:] {
				if a.Role == sessions.Assistant && strings.TrimSpace(a.Text()) != "" {
					return say(string(agent.ReplySkip))
				}
			}
		}
	}
	return say(thanks)
}
