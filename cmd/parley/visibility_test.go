package main

import (
	"encoding/json"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"parley/sessions"
)

// hangUp makes the host read its configuration again.
func (p *process) hangUp() {
	p.t.Helper()
	const says = "configuration reloaded"
	n := strings.Count(p.log.String(), says)
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		p.t.Fatal(err)
	}
	p.w.until(10*time.Second, "the log says "+says, func() bool { return strings.Count(p.log.String(), says) > n })
}

// sight is a town in which every kind of session exists, by short names: those of agent a are main, topic, group, child and child2 (of
// topic and of group); those of agent b are topicB, mainB and childB (which topic spawned).
type sight struct {
	town
	keys  map[string]sessions.Key
	names []string // without the session that looks
	ids   map[string]sessions.ID
	proc  *process
	shown map[place]int
}

const sightAgents = "[{id: a, default: true, subagents: {allowAgents: [b]}}, {id: b}]"

func newSight(t *testing.T) *sight {
	t.Helper()
	tn := newTown(t, setup{Agents: sightAgents})
	s := &sight{town: tn, proc: tn.start(), shown: map[place]int{}, ids: map[string]sessions.ID{}}
	mainA, mainB := place{tn.tg, owner, 0}, place{tn.two, owner, 0}
	tn.meet(mainA, mainB, tn.hereB())
	tn.hereA().tell(program(spawn(say("done")), spawn(say("done"), "agentId", "b"), say("hello")))
	tn.groupA().tell(program(spawn(say("done")), say("hello")))
	child := func(key string, n int) sessions.Key {
		return sessions.Key(told[outcome](tn.world, key, "sessions_spawn", n).ChildSessionKey)
	}
	s.keys = map[string]sessions.Key{"main": "agent:a:main", "topic": atA, "group": groupOfA, "child": child(atA, 1), "child2": child(groupOfA, 1),
		"topicB": atB, "mainB": "agent:b:main", "childB": child(atA, 2)}
	tn.shows(tn.hereA(), 1)
	tn.shows(tn.groupA(), 1)
	tn.asked("", "report", 3)
	tn.quiet()
	have := tn.sessions(false)
	for name, key := range s.keys {
		s.ids[name] = have[key].ID
		s.names = append(s.names, name)
	}
	slices.Sort(s.names)
	if len(have) != len(s.keys) {
		t.Fatalf("%d sessions, not %d: %v", len(have), len(s.keys), have)
	}
	for _, p := range []place{mainA, mainB, tn.hereA(), tn.hereB(), tn.groupA()} {
		s.shown[p] = 1
	}
	return s
}

// look has the agent of a place try every session tool on every session, and says which names each of them let it see.
func (s *sight) look(t *testing.T, from place, own string) (mode string, seen map[string][]string) {
	t.Helper()
	unknown, nobody := uuid.NewString(), "agent:a:telegram:group:-1"
	tools := []string{"sessions_history", "session_status", "sessions_send"}
	lines := []string{use("sessions_list", map[string]any{"limit": 200})}
	args := func(tool, ref string) map[string]any {
		a := map[string]any{"sessionKey": ref}
		if tool == "sessions_send" {
			a["message"], a["timeoutSeconds"] = say("pong"), 0
		}
		return a
	}
	for _, tool := range tools {
		for _, name := range s.names {
			if name != own {
				lines = append(lines, use(tool, args(tool, string(s.keys[name]))), use(tool, args(tool, string(s.ids[name]))))
			}
		}
		lines = append(lines, use(tool, args(tool, unknown)), use(tool, args(tool, nobody)))
	}
	had := map[string]int{"sessions_list": len(s.results(string(s.keys[own]), "sessions_list"))}
	for _, tool := range tools {
		had[tool] = len(s.results(string(s.keys[own]), tool))
	}
	from.tell(program(together(lines...), say("looked")))
	s.shown[from]++
	s.shows(from, s.shown[from])
	var list struct {
		Sessions   []struct{ Key string }
		Visibility struct {
			Mode string
		}
	}
	decode := func(text string, v any) {
		if err := json.Unmarshal([]byte(text), v); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
	}
	decode(s.results(string(s.keys[own]), "sessions_list")[had["sessions_list"]].Text, &list)
	seen = map[string][]string{}
	for _, row := range list.Sessions {
		seen["sessions_list"] = append(seen["sessions_list"], s.name(t, row.Key))
	}
	for _, tool := range tools {
		seen[tool] = append(seen[tool], own)
		rs := s.results(string(s.keys[own]), tool)[had[tool]:]
		if len(rs) != 2*len(s.names) {
			t.Fatalf("%d results of %s, not %d", len(rs), tool, 2*len(s.names))
		}
		notFound, noKey := strings.ReplaceAll(rs[len(rs)-2].Text, unknown, "…"), strings.ReplaceAll(rs[len(rs)-1].Text, nobody, "…")
		if !strings.Contains(notFound, "not found") || !strings.Contains(noKey, "not found") {
			t.Errorf("%s: an unknown key and an unknown id: %s, %s", tool, noKey, notFound)
		}
		i := 0
		for _, name := range s.names {
			if name == own {
				continue
			}
			var byKey, byID outcome
			decode(rs[i].Text, &byKey)
			decode(rs[i+1].Text, &byID)
			switch {
			case byKey.Status == "forbidden":
				if s.keys[name].Agent() == "a" && strings.ReplaceAll(rs[i].Text, string(s.keys[name]), "…") != noKey {
					t.Errorf("%s: the key of %s, which cannot be seen, does not look like one that nobody has: %s, %s", tool, name, rs[i].Text, noKey)
				}
				if got := strings.ReplaceAll(rs[i+1].Text, string(s.ids[name]), "…"); got != notFound {
					t.Errorf("%s: the id of %s, which cannot be seen, does not look unknown: %s", tool, name, got)
				}
			case byKey.Error != "" || byID.Error != "":
				t.Errorf("%s of %s: %+v, %+v", tool, name, byKey, byID)
			default:
				seen[tool] = append(seen[tool], name)
			}
			i += 2
		}
	}
	return list.Visibility.Mode, seen
}

// name finds the short name of a key as agent a is shown it.
func (s *sight) name(t *testing.T, shown string) string {
	t.Helper()
	if shown == "main" {
		return "main"
	}
	for name, key := range s.keys {
		if string(key) == shown && name != "main" {
			return name
		}
	}
	t.Errorf("a session %s is listed", shown)
	return shown
}

// TestVisibility has agents look around in every mode, with and without the way to other agents, sandboxed or not: list, history,
// status and send obey one rule, and what cannot be seen looks like what is not there.
//
// proves: V1, V2, V3, V4, L6, K1, K9
func TestVisibility(t *testing.T) {
	t.Parallel()
	s := newSight(t)
	const (
		self  = "topic"
		tree  = "child childB topic"
		agent = "child child2 childB group main topic"
		all   = "child child2 childB group main mainB topic topicB"
		open  = "{enabled: true}"
		box   = "sandbox: {mode: non-main},"
	)
	for _, test := range []struct {
		name, visibility, a2a, defaults string
		inMain                          bool
		mode, want                      string
	}{
		{"nothing is said", "", "{}", "", false, "tree", tree},
		{"self", "self", open, "", false, "self", self},
		{"tree", "tree", open, "", false, "tree", tree},
		{"agent", "agent", open, "", false, "agent", agent},
		{"all of the same agent", "all", "{enabled: false, allow: ['*']}", "", false, "all", agent},
		{"all", "all", open, "", false, "all", all},
		{"both sides by name", "all", "{enabled: true, allow: [b, a]}", "", false, "all", all},
		{"both sides by pattern", "all", "{enabled: true, allow: ['*']}", "", false, "all", all},
		{"only the other side", "all", "{enabled: true, allow: [b]}", "", false, "all", agent},
		{"only the own side", "all", "{enabled: true, allow: ['A*']}", "", false, "all", agent},
		{"sandboxed", "all", open, box, false, "tree", tree},
		{"sandboxed, agent", "agent", open, box, false, "tree", tree},
		{"sandboxed, self", "self", open, box, false, "self", self},
		{"main is not sandboxed", "all", open, box, true, "all", all},
		{"main is sandboxed", "all", open, "sandbox: {mode: all},", true, "tree", "main"},
		{"sandboxed, not clamped", "all", open, "sandbox: {mode: non-main, sessionToolsVisibility: all},", false, "all", all},
	} {
		visibility := ""
		if test.visibility != "" {
			visibility = "visibility: " + test.visibility
		}
		s.setup(setup{Agents: sightAgents, Tools: "{sessions: {" + visibility + "}, agentToAgent: " + test.a2a + "}",
			Session:  "{agentToAgent: {maxPingPongTurns: 0, maxPerMinute: 1000, maxTurnsPerHour: 1000}}",
			Defaults: "maxSteps: 1000, " + test.defaults})
		s.proc.hangUp()
		from, own := s.hereA(), "topic"
		if test.inMain {
			from, own = place{s.tg, owner, 0}, "main"
		}
		mode, seen := s.look(t, from, own)
		if mode != test.mode {
			t.Errorf("%s: the mode is %s, not %s", test.name, mode, test.mode)
		}
		for tool, names := range seen {
			slices.Sort(names)
			if have := strings.Join(names, " "); have != test.want {
				t.Errorf("%s: %s sees %q, not %q", test.name, tool, have, test.want)
			}
		}
		s.quiet()
	}
	s.only(s.shown)
}
