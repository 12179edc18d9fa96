package sessions

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"parley/channels"
)

// Key names a session for as long as it lives: "agent:main:telegram:group:-100123". It is built by Parts.Key and read by
// Key.Parse, nowhere else (contract K8).
//
// A key is a row of segments joined by ":". Every id is percent-encoded inside its segment (":", "%", spaces, control and
// invisible characters, bytes that are not UTF-8; an empty id is a lone "%"), so that the number of segments and the words at
// fixed places decide the form, whatever the ids contain. Letters keep their case: ids belong to the platform.
type Key string

// The keys that stand outside every agent (contract K6). They are never listed.
const (
	GlobalKey  Key = "global"
	UnknownKey Key = "unknown"
)

// Form says what kind of thing a key names, and which fields of Parts count.
type Form string

// The forms.
const (
	FormMain        Form = "main"         // agent:<a>:main                                    Agent, Thread
	FormPeer        Form = "peer"         // agent:<a>:direct:<id>                             Agent, ID, Thread
	FormChannelPeer Form = "channel-peer" // agent:<a>:<channel>:direct:<id>                   Agent, Channel, ID, Thread
	FormAccountPeer Form = "account-peer" // agent:<a>:<channel>:<account>:direct:<id>         Agent, Channel, Account, ID, Thread
	FormGroup       Form = "group"        // agent:<a>:<channel>[:<account>]:group:<id>        Agent, Channel, Account, ID, Thread
	FormRoom        Form = "channel"      // agent:<a>:<channel>[:<account>]:channel:<id>      Agent, Channel, Account, ID, Thread
	FormCron        Form = "cron"         // agent:<a>:cron:<id>                               Agent, ID
	FormHook        Form = "hook"         // agent:<a>:hook:<id>                               Agent, ID
	FormNode        Form = "node"         // agent:<a>:node-<id>                               Agent, ID
	FormSubagent    Form = "subagent"     // agent:<a>:subagent:<id>                           Agent, ID
	FormOther       Form = "other"        // agent:<a>:<channel>:<id>                          Agent, Channel (any word), ID
	FormGlobal      Form = "global"       // global
	FormUnknown     Form = "unknown"      // unknown
)

// Parts is a key taken apart. Fields that the form does not use are ignored.
type Parts struct {
	Form    Form
	Agent   AgentID
	Channel channels.Kind
	Account channels.AccountID // groups and rooms: channels.DefaultAccount is left out of the key
	ID      string             // the chat's, person's, job's, hook's or node's id
	Thread  channels.ThreadID  // ":topic:<id>" on groups, ":thread:<id>" on everything else; empty = none
}

// MainKey is the main session of an agent (contract K1).
func MainKey(a AgentID) Key { return Parts{Form: FormMain, Agent: a}.Key() }

// SubagentKey is the session of a sub-agent (contract K5).
func SubagentKey(a AgentID, id string) Key {
	return Parts{Form: FormSubagent, Agent: a, ID: id}.Key()
}

const (
	agentWord  = "agent"
	mainWord   = "main"
	nodePrefix = "node-"
	topicWord  = "topic"
	threadWord = "thread"
	directWord = string(channels.Direct)
)

// Key writes the key. It never fails: an unknown form gives UnknownKey.
func (p Parts) Key() Key {
	var room [8]string // the longest form has seven, an account of a thread's chat included
	seg := append(room[:0], agentWord, escape(string(p.Agent)))
	switch p.Form {
	case FormMain:
		seg = append(seg, mainWord)
	case FormPeer:
		seg = append(seg, directWord, escape(p.ID))
	case FormChannelPeer:
		seg = append(seg, escape(string(p.Channel)), directWord, escape(p.ID))
	case FormAccountPeer:
		seg = append(seg, escape(string(p.Channel)), escape(string(p.Account)), directWord, escape(p.ID))
	case FormGroup, FormRoom:
		seg = append(seg, escape(string(p.Channel)))
		if p.Account != channels.DefaultAccount {
			seg = append(seg, escape(string(p.Account)))
		}
		seg = append(seg, string(p.Form), escape(p.ID))
	case FormCron, FormHook, FormSubagent:
		seg = append(seg, string(p.Form), escape(p.ID))
	case FormNode:
		seg = append(seg, nodePrefix+escape(p.ID))
	case FormOther:
		seg = append(seg, escapeWord(string(p.Channel)), escape(p.ID))
	case FormGlobal:
		return GlobalKey
	default:
		return UnknownKey
	}
	if p.Thread != "" && p.Form.threaded() {
		seg = append(seg, p.Form.ThreadWord(), escape(string(p.Thread)))
	}
	return Key(strings.Join(seg, ":"))
}

// Plain gives the key without the account of its chat: how the contract writes keys (K2). What has no account stays as it is.
func (k Key) Plain() Key {
	p, err := k.Parse()
	switch {
	case err != nil:
		return k
	case p.Form == FormAccountPeer:
		p.Form = FormChannelPeer
	case p.Form == FormGroup || p.Form == FormRoom:
		p.Account = channels.DefaultAccount
	}
	return p.Key()
}

// Around gives the key of the place that a thread lies in: of the topic that an ephemeral message stands in, then of the whole chat; ok is
// false when the key has no thread.
func (k Key) Around() (outer Key, ok bool) {
	if !k.hasWord(threadWord) && !k.hasWord(topicWord) {
		return k, false
	}
	p, err := k.Parse()
	if err != nil || p.Thread == "" {
		return k, false
	}
	p.Thread = p.Thread.Outer()
	return p.Key(), true
}

// hasWord reports whether the key has a segment with a word, neither at its start nor at its end. It spares Parse where there is none.
func (k Key) hasWord(word string) bool {
	for rest := string(k); ; {
		at := strings.Index(rest, word)
		if at < 0 {
			return false
		}
		end := at + len(word)
		if at > 0 && rest[at-1] == ':' && end < len(rest) && rest[end] == ':' {
			return true
		}
		rest = rest[at+1:]
	}
}

// threaded reports whether a key of this form may have a thread.
func (f Form) threaded() bool {
	switch f {
	case FormMain, FormPeer, FormChannelPeer, FormAccountPeer, FormGroup, FormRoom:
		return true
	}
	return false
}

// ThreadWord returns the word before a thread in a key of this form.
func (f Form) ThreadWord() string {
	if f == FormGroup {
		return topicWord
	}
	return threadWord
}

// ErrKey is returned for text that is no session key.
var ErrKey = errors.New("not a session key")

// Parse takes the key apart. It accepts exactly what Parts.Key writes: the key of the result is k again.
func (k Key) Parse() (Parts, error) {
	switch k {
	case GlobalKey:
		return Parts{Form: FormGlobal}, nil
	case UnknownKey:
		return Parts{Form: FormUnknown}, nil
	}
	seg := strings.Split(string(k), ":")
	if len(seg) < 3 || seg[0] != agentWord {
		return Parts{}, fmt.Errorf("%q: %w: want agent:<agentId>:…", string(k), ErrKey)
	}
	p, ok := parseSegments(seg[1:])
	// Writing it again refuses every second spelling of a key ("%41" for "A", a default account written out).
	if !ok || p.Key() != k {
		return Parts{}, fmt.Errorf("%q: %w: unknown form", string(k), ErrKey)
	}
	return p, nil
}

// parseSegments reads the segments after "agent". The count tells the forms apart; where two have the same count, the words at
// fixed places do: s[1] main|direct|cron|hook|subagent, s[2] and s[3] direct|group|channel, the last but one topic|thread.
func parseSegments(s []string) (Parts, bool) {
	d := unescaper{ok: true}
	p := Parts{Agent: AgentID(d.text(s[0]))}
	n := len(s)
	if (n == 4 && s[1] == mainWord || n == 5 && s[1] == directWord && s[3] == threadWord || n >= 6) && (s[n-2] == topicWord || s[n-2] == threadWord) {
		p.Thread = channels.ThreadID(d.text(s[n-1]))
		n -= 2
	}
	switch {
	case n == 2 && s[1] == mainWord:
		p.Form = FormMain
	case n == 2 && strings.HasPrefix(s[1], nodePrefix):
		p.Form, p.ID = FormNode, d.text(s[1][len(nodePrefix):])
	case n == 3 && s[1] == directWord:
		p.Form, p.ID = FormPeer, d.text(s[2])
	case n == 3 && reserved(s[1]):
		p.Form, p.ID = Form(s[1]), d.text(s[2])
	case n == 3:
		p.Form, p.Channel, p.ID = FormOther, channels.Kind(d.text(s[1])), d.text(s[2])
	case n == 4:
		p.Form, p.Channel, p.ID = chatForm(s[2], FormChannelPeer), channels.Kind(d.text(s[1])), d.text(s[3])
		if p.Form != FormChannelPeer {
			p.Account = channels.DefaultAccount
		}
	case n == 5:
		p.Form, p.Channel, p.Account, p.ID = chatForm(s[3], FormAccountPeer), channels.Kind(d.text(s[1])), channels.AccountID(d.text(s[2])), d.text(s[4])
	}
	return p, d.ok && p.Form != ""
}

func chatForm(word string, direct Form) Form {
	switch word {
	case directWord:
		return direct
	case string(FormGroup), string(FormRoom):
		return Form(word)
	}
	return ""
}

// reserved reports whether a word in front of an id makes a form of its own.
func reserved(word string) bool {
	switch word {
	case directWord, string(FormCron), string(FormHook), string(FormSubagent):
		return true
	}
	return false
}

// escape writes an id as one segment.
func escape(s string) string {
	if s == "" {
		return "%"
	}
	clean := true
	for i := 0; i < len(s) && clean; i++ {
		c := s[i]
		clean = c > ' ' && c < 0x7f && c != ':' && c != '%'
	}
	if clean {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		plain := r > ' ' && r != ':' && r != '%' && unicode.IsGraphic(r) && !unicode.IsSpace(r) && !(r == utf8.RuneError && n == 1)
		if plain {
			b.WriteString(s[i : i+n])
		} else {
			for _, c := range []byte(s[i : i+n]) {
				writeByte(&b, c)
			}
		}
		i += n
	}
	return b.String()
}

// escapeWord writes a word that must not be taken for one of ours.
func escapeWord(s string) string {
	if !reserved(s) {
		return escape(s)
	}
	var b strings.Builder
	writeByte(&b, s[0])
	return b.String() + s[1:]
}

func writeByte(b *strings.Builder, c byte) {
	const hex = "0123456789ABCDEF"
	b.WriteByte('%')
	b.WriteByte(hex[c>>4])
	b.WriteByte(hex[c&15])
}

// unescaper reads segments and remembers whether one was malformed. Whether a spelling is the canonical one is not its business.
type unescaper struct{ ok bool }

func (d *unescaper) text(s string) string {
	if s == "%" {
		return ""
	}
	if s == "" {
		d.ok = false
		return ""
	}
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			d.ok = false
			return ""
		}
		hi, lo := unhex(s[i+1]), unhex(s[i+2])
		if hi > 15 || lo > 15 {
			d.ok = false
			return ""
		}
		b = append(b, hi<<4|lo)
		i += 2
	}
	return string(b)
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// IsSubagent reports whether a session is a sub-agent's (contract K5).
func IsSubagent(key Key) bool {
	if !key.hasWord(string(FormSubagent)) {
		return false
	}
	p, err := key.Parse()
	return err == nil && p.Form == FormSubagent
}
