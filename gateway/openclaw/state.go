package openclaw

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/filesystem"
	"parley/gateway/openclaw/source"
	"parley/policy"
	"parley/sessions"
)

// maxFile bounds the files that are read whole.
const maxFile = 64 << 20

// entry is one row of sessions.json, as far as it is read.
type entry struct {
	SessionID   string      `json:"sessionId"`
	SessionFile string      `json:"sessionFile"`
	UpdatedAt   json.Number `json:"updatedAt"`
	SpawnedBy   string      `json:"spawnedBy"`
	Thinking    string      `json:"thinkingLevel"`
	Verbose     string      `json:"verboseLevel"`
	Provider    string      `json:"providerOverride"`
	Model       string      `json:"modelOverride"`
	Activation  string      `json:"groupActivation"`
	SendPolicy  string      `json:"sendPolicy"`
	QueueMode   string      `json:"queueMode"`
	Label       string      `json:"label"`
	DisplayName string      `json:"displayName"`
	Subject     string      `json:"subject"`
	LastChannel string      `json:"lastChannel"`
	LastTo      string      `json:"lastTo"`
	LastAccount string      `json:"lastAccountId"`
	LastThread  any         `json:"lastThreadId"`
}

// reader is one import.
type reader struct {
	root    *os.Root // whatever a file names, nothing outside is read
	files   fs.FS
	ids     ids
	mainKey string
	global  bool // session.scope

	hasWorkspace bool // the configuration names one
	Result
	taken map[sessions.Key]string
}

// Read reads a state folder. It changes nothing.
func Read(dir string, table config.Table, getenv func(string) string) (_ *Result, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it is only read
	x := &reader{root: root, files: root.FS(), ids: ids{table}, mainKey: "main", taken: map[sessions.Key]string{}}
	found, err := x.settle(table, getenv)
	if err != nil {
		return nil, err
	}
	agents, err := fs.ReadDir(x.files, "agents")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if !found && len(agents) == 0 {
		return nil, fmt.Errorf("%s is no state folder of OpenClaw: it has no %s and no folder agents", dir, source.Names[0])
	}
	for _, a := range agents {
		if a.IsDir() {
			x.agent(a.Name())
		}
	}
	x.rest()
	x.Report.Sort()
	return &x.Result, nil
}

// read reads a file whole.
func (x *reader) read(name string) ([]byte, error) {
	info, err := fs.Stat(x.files, name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s is larger than %d MB", name, maxFile>>20)
	}
	f, err := filesystem.OpenIn(x.root, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// agent reads the sessions of one agent.
func (x *reader) agent(name string) {
	folder := path.Join("agents", name, "sessions")
	store := path.Join(folder, "sessions.json")
	text, err := x.read(store)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	var raw any
	if err == nil {
		raw, err = source.ParseJSON5(text)
	}
	rows, ok := raw.(map[string]any)
	if err != nil || !ok {
		x.Report.Leave(store, fmt.Sprintf("it cannot be read: %v", err))
		return
	}
	used := map[string]bool{}
	for key, row := range rows {
		b, err := json.Marshal(row)
		var e entry
		if err == nil {
			err = json.Unmarshal(b, &e)
		}
		if err != nil {
			x.Report.Leave("session "+key, "its row cannot be read: "+err.Error())
			continue
		}
		x.session(key, agentID(name), folder, e, used)
	}
	files, err := fs.ReadDir(x.files, folder)
	if err != nil {
		return // the store was read
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".jsonl") && !used[f.Name()] {
			x.Report.Leave(path.Join(folder, f.Name()), "no session names it (it was reset or deleted): keep the file")
		}
	}
}

// session makes a session of a row.
func (x *reader) session(raw string, agent sessions.AgentID, folder string, e entry, used map[string]bool) {
	what := "session " + raw
	m := keyFor(raw, agent, x.mainKey, x.ids)
	if p, err := m.key.Parse(); err == nil && p.Thread != "" {
		e.LastThread = string(p.Thread)
	}
	file, ok := x.file(folder, e)
	if ok {
		used[path.Base(file)] = true
	}
	if m.left != "" {
		x.Report.Leave(what, m.left)
		return
	}
	if m.key == sessions.GlobalKey && !x.global {
		x.Report.Leave(what, "session.scope is not global: nothing leads to it")
		return
	}
	if by, twice := x.taken[m.key]; twice {
		x.Report.Leave(what, "it becomes the same as "+by)
		return
	}
	s := sessions.Session{Key: m.key, Agent: m.key.Agent(), ID: sessionID(e.SessionID, m.key), Title: titleOf(e.DisplayName, e.Subject), Label: titleOf(e.Label), SpawnedBy: m.parent, Settings: x.settings(what, e), Last: x.last(m.key, e)}
	if s.Agent == "" {
		s.Agent = agent
	}
	if ms, err := e.UpdatedAt.Int64(); err == nil && ms > 0 {
		s.Updated = time.UnixMilli(ms).UTC()
	}
	if s.SpawnedBy == "" && e.SpawnedBy != "" {
		s.SpawnedBy = keyFor(e.SpawnedBy, agent, x.mainKey, x.ids).key
	}
	var msgs []sessions.Message
	without := "" // why it has no messages
	if ok {
		f, err := filesystem.OpenIn(x.root, file)
		if err == nil {
			var n counts
			msgs, n, err = transcript(f, s.ID, func(k string) sessions.Key {
				if k == "" {
					return ""
				}
				return keyFor(k, agent, x.mainKey, x.ids).key
			})
			x.lines(what, n)
			_ = f.Close() // it was only read
		}
		if err != nil {
			without = "its transcript cannot be read: " + err.Error()
		}
	} else if e.SessionID != "" {
		without = "there is no file of its transcript"
	}
	x.taken[m.key] = raw
	x.Sessions = append(x.Sessions, Imported{Session: s, Messages: msgs})
	x.Report.Sessions++
	x.Report.Messages += len(msgs)
	line := fmt.Sprintf("%s → %s, %d messages", what, m.key, len(msgs))
	if why := slices.DeleteFunc([]string{without, m.note}, func(s string) bool { return s == "" }); len(why) > 0 {
		x.Report.Differ(line, strings.Join(why, "; "))
		return
	}
	x.Report.Carry(line, "")
}

// lines reports what a transcript had that is not carried over as it was.
func (x *reader) lines(what string, n counts) {
	say := func(count int, words, why string) {
		if count > 0 {
			x.Report.Differ(fmt.Sprintf("%s: %d %s", what, count, words), why)
		}
	}
	say(n.compactions, "summaries", "all messages are carried over instead; the older part is summed up again when it is needed")
	say(n.thinking, "pieces of thinking", "left out: they belong to the model and the account that made them")
	say(n.images, "images", "left out: without data, or too large")
	say(n.unanswered, "tool calls without a result", "they got one that says so: providers refuse calls without")
	say(n.orphans, "tool results without a call", "left out: providers refuse them")
	if n.broken > 0 {
		x.Report.Leave(fmt.Sprintf("%s: %d lines of its transcript", what, n.broken), "they cannot be read; keep the file")
	}
}

// file finds the transcript of a row.
func (x *reader) file(folder string, e entry) (string, bool) {
	var tries []string
	if e.SessionFile != "" {
		tries = append(tries, path.Join(folder, path.Base(strings.ReplaceAll(e.SessionFile, `\`, "/"))))
	}
	if e.SessionID != "" {
		tries = append(tries, path.Join(folder, path.Base(e.SessionID)+".jsonl"))
		if e.LastThread != nil {
			tries = append(tries, path.Join(folder, path.Base(fmt.Sprintf("%s-topic-%v.jsonl", e.SessionID, e.LastThread))))
		}
	}
	for _, t := range tries {
		if info, err := fs.Stat(x.files, t); err == nil && info.Mode().IsRegular() {
			return t, true
		}
	}
	return "", false
}

func (x *reader) settings(what string, e entry) (s sessions.Settings) {
	if e.SendPolicy == "allow" || e.SendPolicy == "deny" {
		s.SendPolicy = policy.Override(e.SendPolicy)
	}
	if e.Model != "" {
		if s.Model = e.Model; e.Provider != "" {
			s.Model = e.Provider + "/" + e.Model
		}
		if !strings.Contains(s.Model, "/") {
			x.Report.Leave(what+": model "+s.Model, "it names no provider: set it with parley sessions patch")
			s.Model = ""
		}
	}
	if slices.Contains([]string{"off", "minimal", "low", "medium", "high"}, e.Thinking) {
		s.Thinking = e.Thinking
	}
	if e.Activation == "mention" || e.Activation == "always" {
		s.Activation = e.Activation
	}
	if q := sessions.QueueMode(e.QueueMode); slices.Contains([]sessions.QueueMode{"collect", "followup", "steer", "interrupt"}, q) {
		s.Queue.Mode = q
	}
	return s
}

// last is the chat that last wrote: of a group the one that its key names, otherwise what the row says.
func (x *reader) last(k sessions.Key, e entry) channels.Address {
	p, err := k.Parse()
	if err == nil && (p.Form == sessions.FormGroup || p.Form == sessions.FormRoom) && x.ids.has(p.Channel) {
		t := channels.Group
		if p.Form == sessions.FormRoom {
			t = channels.Room
		}
		return channels.Address{Channel: p.Channel, Account: p.Account, Chat: channels.ChatID(p.ID), Thread: p.Thread, Type: t}
	}
	kind := channels.Kind(strings.ToLower(e.LastChannel))
	if e.LastTo == "" || !x.ids.has(kind) || strings.Contains(e.LastTo, "group:") || strings.Contains(e.LastTo, "channel:") || strings.HasSuffix(e.LastTo, "@g.us") {
		return channels.Address{}
	}
	a := channels.Address{Channel: kind, Account: channels.DefaultAccount, Chat: channels.ChatID(x.ids.person(kind, e.LastTo)), Type: channels.Direct}
	if e.LastAccount != "" {
		a.Account = channels.AccountID(strings.ToLower(e.LastAccount))
	}
	return a
}

// sessionID keeps an id that is a UUID, and makes one otherwise.
func sessionID(id string, k sessions.Key) sessions.ID {
	if u, err := uuid.Parse(id); err == nil {
		return sessions.ID(u.String())
	}
	return sessions.ID(uuid.NewSHA1(space, []byte("session/"+string(k))).String())
}

// titleOf gives the first text with something in it, in one line of at most 64 bytes.
func titleOf(texts ...string) string {
	for _, t := range texts {
		if t = strings.Join(strings.Fields(t), " "); t != "" {
			return strings.ToValidUTF8(t[:min(len(t), 64)], "")
		}
	}
	return ""
}

// rest names what else is in the folder.
func (x *reader) rest() {
	for name, why := range map[string]string{
		"cron/jobs.json":         "make the jobs anew: parley cron add",
		"hooks":                  "set hooks up anew (docs/automation.md)",
		"skills":                 "there are no skills; tools come from MCP servers (docs/mcp.md)",
		"credentials/oauth.json": "set the key of each model provider in the environment, or under models.providers",
		"credentials/whatsapp":   "link the phone anew: parley login whatsapp",
		"workspace":              "copy what you need to the agent's workspace in the state folder: AGENTS.md and SOUL.md are read there as well",
	} {
		if _, err := fs.Stat(x.files, name); err == nil && (name != "workspace" || !x.hasWorkspace) {
			x.Report.Leave(name, why)
		}
	}
}
