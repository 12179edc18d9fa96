package sessions

import (
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// Kind is the kind of a session, as sessions_list names it (contract L1, L5).
type Kind string

// The kinds.
const (
	KindMain  Kind = "main"
	KindGroup Kind = "group"
	KindCron  Kind = "cron"
	KindHook  Kind = "hook"
	KindNode  Kind = "node"
	KindOther Kind = "other" // direct chats of their own, sub-agents, threads of direct chats
)

// Agent gives the agent that the key belongs to, "" for keys outside every agent and for text that is no key.
func (k Key) Agent() AgentID {
	rest, ok := strings.CutPrefix(string(k), agentWord+":")
	if !ok {
		return ""
	}
	a, _, ok := strings.Cut(rest, ":")
	if !ok {
		return ""
	}
	d := unescaper{ok: true}
	return AgentID(d.text(a))
}

// Stripped gives the key without "agent:<id>:", the form in which cron, hook and node keys are known to people (contract K4).
func (k Key) Stripped() string {
	rest, ok := strings.CutPrefix(string(k), agentWord+":")
	if !ok {
		return string(k)
	}
	_, s, ok := strings.Cut(rest, ":")
	if !ok {
		return string(k)
	}
	return s
}

// Kind classifies the key after stripping its agent. The key may be stripped already. The one session of session.scope global
// counts as main.
func (k Key) Kind() Kind {
	p, err := k.Parse()
	if err != nil {
		if p, err = Key(agentWord + ":x:" + string(k)).Parse(); err != nil {
			return KindOther
		}
	}
	switch p.Form {
	case FormMain:
		if p.Thread != "" {
			return KindOther
		}
		return KindMain
	case FormGlobal:
		return KindMain
	case FormGroup, FormRoom:
		return KindGroup
	case FormCron:
		return KindCron
	case FormHook:
		return KindHook
	case FormNode:
		return KindNode
	}
	return KindOther
}

// Reserved reports whether the key is never shown: unknown always, global unless it is the one session there is (contract K6).
func (k Key) Reserved(scope Scope) bool {
	return k == UnknownKey || k == GlobalKey && scope != Global
}

// Shown gives the key as people and programs know it: the one session of session.scope global is main (contract K6).
func (k Key) Shown() Key {
	if k == GlobalKey {
		return mainWord
	}
	return k
}

// Display gives the key as an agent's tools show it (contract K1, K4, K6): its own main session and the global one are "main",
// its own cron, hook and node sessions have no prefix, everything else is the full key. Resolve reads it back.
func (k Key) Display(forAgent AgentID, scope Scope) string {
	switch {
	case k == GlobalKey:
		return mainWord
	case k.Agent() != forAgent:
		return string(k)
	}
	switch k.Kind() {
	case KindMain:
		if scope != Global {
			return mainWord
		}
	case KindCron, KindHook, KindNode:
		return k.Stripped()
	}
	return string(k)
}

// Ref is a resolved reference to a session: exactly one of the fields is set.
type Ref struct {
	Key Key
	ID  ID
}

// Resolve reads a reference as tools take it (contract K1, K9): "main", a full key, an own cron, hook or node key without its
// prefix, or a session id. It looks nothing up. Any other text is an error that wraps ErrNotFound and says so.
func Resolve(ref string, current AgentID, scope Scope) (Ref, error) {
	ref = strings.TrimSpace(ref)
	if ref == mainWord {
		if scope == Global {
			return Ref{Key: GlobalKey}, nil
		}
		return Ref{Key: MainKey(current)}, nil
	}
	if LooksLikeID(ref) {
		return Ref{ID: ID(strings.ToLower(ref))}, nil
	}
	k := Key(ref)
	if p, err := k.Parse(); err == nil && p.Form != FormGlobal && p.Form != FormUnknown {
		return Ref{Key: k}, nil
	}
	own := Key(agentWord + ":" + escape(string(current)) + ":" + ref)
	if p, err := own.Parse(); err == nil && (p.Form == FormCron || p.Form == FormHook || p.Form == FormNode) {
		return Ref{Key: own}, nil
	}
	return Ref{}, fmt.Errorf("session %q: %w: it is neither a session key nor a session id; use the key that sessions_list shows", clip(ref), ErrNotFound)
}

// LooksLikeID reports whether the text is a session id, a UUID in its usual form of 36 characters.
func LooksLikeID(s string) bool {
	return len(s) == 36 && uuid.Validate(s) == nil
}

// clip keeps foreign text in an error short.
func clip(s string) string {
	const maxShown = 200
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}
