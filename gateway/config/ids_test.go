package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"parley/channels"
	"parley/policy"
)

// withIDs is a table whose channel p writes people as "u" and a number, whatever stands around it, and groups as "g" and a number.
func withIDs() Table {
	number := func(mark, text string) (string, error) {
		if mark == "u" && strings.HasPrefix(text, "@") {
			return text, nil
		}
		digits := strings.Trim(text, mark+" +")
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			return "", errors.New("want " + mark + "1")
		}
		return mark + digits, nil
	}
	return append(table(), Adapter{Kind: "p",
		Person: func(s string) (channels.UserID, error) { id, err := number("u", s); return channels.UserID(id), err },
		Chat:   func(s string) (channels.ChatID, error) { id, err := number("g", s); return channels.ChatID(id), err }})
}

// A name that another person can take over is warned about wherever it gives rights.
// source: CWE-290 (a name is no identity)
func TestNamesAreWarnedAbout(t *testing.T) {
	_, ps, err := Parse("c.yaml", []byte(`
commands: {ownerAllowFrom: ["p:@Ada", "p:1"]}
session: {identityLinks: {ann: ["p:@Ann"]}}
channels:
  p:
    allowFrom: ["@Ben", 2]
    groupAllowFrom: ["p:@Cem"]
    groups:
      5: {allowFrom: ["@Dan"], toolsBySender: {"@Eve": {deny: [fetch]}}, topics: {9: {allowFrom: ["@Fay"]}}}
`), withIDs(), env())
	var at []string
	for _, p := range ps {
		if p.Severity == SevereError || !strings.Contains(p.Text, "is a name") {
			t.Errorf("%v", p)
		}
		at = append(at, p.Key)
	}
	slices.Sort(at)
	want := []string{"channels.p.allowFrom[0]", "channels.p.groupAllowFrom[0]", "channels.p.groups.5.allowFrom[0]", "channels.p.groups.5.toolsBySender.@Eve", "channels.p.groups.5.topics.9.allowFrom[0]", "commands.ownerAllowFrom[0]", "session.identityLinks.ann[0]"}
	if err != nil || !slices.Equal(at, want) {
		t.Errorf("warned about %q, %v", at, err)
	}
}

// Ids are rewritten to what messages say, wherever they stand: in lists, in keys, in accounts, behind their channel's name. Other
// channels' stay as they are.
func TestIDsAreRewritten(t *testing.T) {
	c, ps, err := Parse("c.yaml", []byte(`
commands: {ownerAllowFrom: ["p:+ 7", "P:8", "telegram:+9"]}
session: {identityLinks: {ann: ["p:+7", "telegram:+9"]}}
channels:
  telegram: {token: x, allowFrom: [+9]}
  p:
    allowFrom: [+1, "p: 2", u3, "@Ada", "*"]
    dmPolicy: open
    groupAllowFrom: [4]
    groups:
      5: {allowFrom: [+6], toolsBySender: {+6: {deny: [fetch]}, "*": {}}, topics: {9: {allowFrom: [+7]}}}
      "*": {}
    accounts:
      one: {}
      two: {allowFrom: [" 8", "*"]}
`), withIDs(), env())
	if err != nil || len(ps) != 1 || ps[0].Key != "channels.p.allowFrom[3]" {
		t.Fatal(ps, err)
	}
	if got := c.Commands.OwnerAllowFrom; !slices.Equal(got, []string{"p:u7", "p:u8", "telegram:+9"}) {
		t.Error(got)
	}
	if got := c.Session.IdentityLinks["ann"]; !slices.Equal(got, []string{"p:u7", "telegram:+9"}) {
		t.Error(got)
	}
	for _, a := range c.Channels {
		switch {
		case a.Kind == "telegram":
			if !slices.Equal(a.Access.AllowFrom, []string{"+9"}) {
				t.Error(a.Access.AllowFrom)
			}
		case a.Kind == "p":
			want := []string{"u1", "u2", "u3", "@Ada", "*"}
			if a.ID == "two" {
				want = []string{"u8", "*"}
			}
			if !slices.Equal(a.Access.AllowFrom, want) || !slices.Equal(a.Access.GroupAllowFrom, []string{"u4"}) {
				t.Error(a.ID, a.Access.AllowFrom, a.Access.GroupAllowFrom)
			}
			groups := map[string]policy.GroupAccess{"*": {}, "g5": {AllowFrom: []string{"u6"}, Topics: map[string]policy.GroupAccess{"9": {AllowFrom: []string{"u7"}}},
				ToolsBySender: map[string]policy.Rights{"u6": {Deny: []string{"fetch"}}, "*": {}}}}
			if !reflect.DeepEqual(a.Access.Groups, groups) {
				t.Errorf("%+v", a.Access.Groups)
			}
		}
	}
}

// What is no id is an error at its own line, once, with what is wanted; so are two ways to write one group. In what is switched off
// nobody looks.
func TestIDsThatAreNone(t *testing.T) {
	_, ps, err := Parse("c.yaml", []byte(`
commands:
  ownerAllowFrom:
    - p:bob
session:
  identityLinks:
    ann:
      - p:ann
channels:
  p:
    allowFrom:
      - 1
      - carl
      - telegram:1
    groupAllowFrom: [dora]
    groups:
      abc: {}
      5: {allowFrom: [emil]}
      +5: {}
      6:
        toolsBySender:
          fred: {}
    accounts:
      one: {}
      two:
        allowFrom: ["averylongtextthatmightbeasecret"]
      three: {enabled: false, allowFrom: [gina]}
`), withIDs(), env())
	var got []string
	for _, p := range ps {
		got = append(got, p.String())
	}
	want := []string{
		`c.yaml:4: commands.ownerAllowFrom[0]: "bob" is not a p user (want u1)`,
		`c.yaml:8: session.identityLinks.ann[0]: "ann" is not a p user (want u1)`,
		`c.yaml:13: channels.p.allowFrom[1]: "carl" is not a p user (want u1)`,
		`c.yaml:14: channels.p.allowFrom[2]: "telegram:1" is not a p user (want u1)`,
		`c.yaml:15: channels.p.groupAllowFrom[0]: "dora" is not a p user (want u1)`,
		`c.yaml:17: channels.p.groups.abc: "abc" is not a p chat (want g1)`,
		`c.yaml:18: channels.p.groups.5: is the same as "+5" (keep one)`,
		`c.yaml:18: channels.p.groups.5.allowFrom[0]: "emil" is not a p user (want u1)`,
		`c.yaml:22: channels.p.groups.6.toolsBySender.fred: "fred" is not a p user (want u1)`,
		`c.yaml:26: channels.p.accounts.two.allowFrom[0]: this value is not a p user (want u1)`,
	}
	if err == nil || !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// TestBindingsToNoChat: a peer that no chat of the channel can be is warned about, and the id as the adapter writes it is said.
// source: the import from OpenClaw wrote telegram:1001 as it stood there
func TestBindingsToNoChat(t *testing.T) {
	_, ps, err := Parse("c.yaml", []byte(`
channels: {p: {}}
bindings:
  - {agentId: main, match: {channel: p, peer: {kind: direct, id: "p:u1"}}}
  - {agentId: main, match: {channel: p, peer: {kind: direct, id: "1"}}}
  - {agentId: main, match: {channel: p, peer: {kind: group, id: "x"}}}
  - {agentId: main, match: {channel: p, peer: {kind: group, id: "g1"}}}
  - {agentId: main, match: {channel: p, peer: {kind: group, id: "*"}}}
`), withIDs(), env())
	var got []string
	for _, p := range ps {
		if strings.Contains(p.Text, "never matches") {
			got = append(got, p.Key+": "+p.Hint)
		}
	}
	want := []string{"bindings[0].match.peer.id: want u1", "bindings[1].match.peer.id: write u1", "bindings[2].match.peer.id: want g1"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("warned about %q, %v", got, err)
	}
}
