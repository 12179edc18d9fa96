package source

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parley/channels"
	"parley/gateway/openclaw/jsontree"
)

// Workspace is the folder of an agent, as far as it is in the state folder.
type Workspace struct {
	Agent        string   // OpenClaw's id
	Path         string   // relative to the state folder
	Files        []string // persona, memory and other files that OpenClaw knew by name
	Instructions string   // IDENTITY.md and USER.md
	Notes        []string // MEMORY.md and memory/*.md in pieces, each at most maxNote characters
}

const (
	maxNote  = 2000     // parley's own bound for a note, in characters
	maxNotes = 1000     // of one agent
	maxProse = 1 << 20  // of each file, in bytes
	maxTold  = 16 << 10 // of IDENTITY.md and USER.md together, in bytes
)

// workspaceReader finds the folders of the agents. It writes instructions into the tree, and takes the heartbeats out of it.
type workspaceReader struct {
	folder Folder
	tree   map[string]any
	agents map[string]any // of the tree
	found  []Workspace
	jobs   []Job // heartbeats
}

// all finds the folders of agents in the state folder, and reads persona and memory. Folders elsewhere are not read.
//
// source: openclaw/openclaw docs/concepts/agent-workspace.md; NousResearch/hermes-agent#7847
func (s *workspaceReader) all() {
	agents := s.agents
	root := jsontree.Text(jsontree.Object(agents["defaults"])["workspace"])
	first := DefaultAgent(s.tree)
	own := map[string]string{first: root}
	list, _ := agents["list"].([]any)
	for _, a := range list {
		if id := jsontree.Text(jsontree.Object(a)["id"]); id != "" {
			own[id] = jsontree.Text(jsontree.Object(a)["workspace"])
		}
	}
	for id, a := range jsontree.Object(agents["entries"]) {
		own[id] = jsontree.Text(jsontree.Object(a)["workspace"])
	}
	if own[first] == "" {
		own[first] = root
	}
	copied := map[string]string{} // where a copy of a folder is looked for, once for all agents that share it
	for _, id := range append([]string{first}, slices.Sorted(maps.Keys(own))...) {
		if dir := own[id]; copied[dir] == "" {
			copied[dir] = agentFolder(id, first)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(own)) {
		dir := own[id]
		tries := []string{dir, copied[dir], agentFolder(id, first)}
		if dir == "" && id != first {
			tries = []string{root + "-" + id, path.Join(root, id), agentFolder(id, first)}
		}
		isRead := slices.ContainsFunc(tries, func(dir string) bool {
			at, ok := s.folder.inside(dir, "")
			return ok && s.workspace(id, at)
		})
		if _, here := s.folder.inside(dir, ""); !isRead && !here && dir != "" && copied[dir] == agentFolder(id, first) {
			s.folder.Report.See("workspace "+dir, "it is not in OpenClaw's folder, so its persona and memory are not imported: copy it into OpenClaw's folder as "+copied[dir]+", and import again")
		}
	}
	for _, w := range s.found {
		s.instruct(w)
	}
	s.heartbeats()
}

// heartbeats takes the settings of heartbeats out of the tree, and says what became of them.
func (s *workspaceReader) heartbeats() {
	first := DefaultAgent(s.tree)
	lines := map[string]func(){}
	for _, e := range append(s.entries(), agentEntry{"agents.defaults", first, jsontree.Object(s.agents["defaults"])}) {
		if _, ok := e.fields["heartbeat"]; !ok {
			continue
		}
		isDefault := e.place == "agents.defaults"
		made := slices.ContainsFunc(s.jobs, func(j Job) bool { return j.Name == heartbeatName && (isDefault || j.Agent == e.id) })
		set, every := s.beat(e.id)
		lines[e.place+".heartbeat"] = func() {
			switch what := e.place + ".heartbeat"; {
			case made:
				s.folder.Report.Carry(what+" → a scheduled job", "")
			case set == nil:
				s.folder.Report.Carry(what, "in OpenClaw only agents with settings of their own have a heartbeat then")
			case every <= 0:
				s.folder.Report.Carry(what, "it is off, so there is no job")
			default:
				s.folder.Report.Leave(what, "no HEARTBEAT.md with a task is in OpenClaw's folder: make a job with parley cron add --every="+short(every)+" --agent="+strings.ToLower(e.id))
			}
			delete(e.fields, "heartbeat")
		}
	}
	for _, place := range slices.Sorted(maps.Keys(lines)) {
		lines[place]()
	}
}

// short writes a duration without zeros behind it.
func short(d time.Duration) string {
	s := d.String()
	if rest, ok := strings.CutSuffix(s, "m0s"); ok {
		s = rest + "m"
	}
	if rest, ok := strings.CutSuffix(s, "h0m"); ok {
		s = rest + "h"
	}
	return s
}

// agentEntry is an agent with its fields.
type agentEntry struct {
	place, id string
	fields    map[string]any
}

// entries lists the agents that the configuration describes.
func (s *workspaceReader) entries() (out []agentEntry) {
	list, _ := s.agents["list"].([]any)
	for _, a := range list {
		id := jsontree.Text(jsontree.Object(a)["id"])
		out = append(out, agentEntry{"agents.list." + id, id, jsontree.Object(a)})
	}
	for id, a := range jsontree.Object(s.agents["entries"]) {
		out = append(out, agentEntry{"agents.entries." + id, id, jsontree.Object(a)})
	}
	return out
}

// beat returns the settings of an agent's heartbeat and how often it runs; 0 = never. Once an agent has settings of its own, the others have no
// heartbeat; without any settings only the default agent has one.
//
// source: openclaw/openclaw docs/gateway/heartbeat.md, "Scope and precedence" and "Per-agent heartbeats"; an interval that cannot be read is off
func (s *workspaceReader) beat(agent string) (set map[string]any, every time.Duration) {
	set = jsontree.Object(jsontree.Object(s.agents["defaults"])["heartbeat"])
	var own map[string]any
	others := false
	for _, e := range s.entries() {
		switch beat := jsontree.Object(e.fields["heartbeat"]); {
		case beat == nil:
		case e.id == agent:
			own = beat
		default:
			others = true
		}
	}
	only := jsontree.Text(set["agentId"])
	switch {
	case own != nil:
		set = jsontree.Object(merge(set, own))
	case others, only != "" && only != agent, set == nil && agent != DefaultAgent(s.tree):
		return nil, 0
	}
	v := jsontree.Text(set["every"])
	if v == "" {
		return set, 30 * time.Minute
	}
	if !strings.ContainsAny(v, "smhd") {
		v += "m"
	}
	if days, ok := strings.CutSuffix(v, "d"); ok {
		every, _ = time.ParseDuration(days + "h")
		return set, 24 * every
	}
	every, _ = time.ParseDuration(v)
	return set, every
}

const heartbeatName = "heartbeat"

// agentFolder is the folder of an agent that OpenClaw takes without a setting.
func agentFolder(id, first string) string {
	if id == first {
		return "workspace"
	}
	return "workspace-" + id
}

// instruct writes the persona of a workspace as instructions of its agent, a key that OpenClaw does not have.
func (s *workspaceReader) instruct(w Workspace) {
	if s.tree == nil || w.Instructions == "" {
		return
	}
	agents := section(s.tree, "agents")
	entry := jsontree.Object(jsontree.Object(agents["entries"])[w.Agent])
	if entry == nil {
		entry = agentIn(agents, w.Agent)
	}
	entry["instructions"] = literal(w.Instructions)
}

// workspace reads a folder; false if there is none.
func (s *workspaceReader) workspace(agent, dir string) bool {
	files, err := fs.ReadDir(s.folder.Root.FS(), dir)
	if err != nil {
		return false
	}
	w := Workspace{Agent: agent, Path: dir}
	for _, name := range []string{"AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "MEMORY.md", "memory.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"} {
		if !slices.ContainsFunc(files, func(f fs.DirEntry) bool { return f.Name() == name }) {
			continue
		}
		w.Files = append(w.Files, name)
		what := path.Join(dir, name)
		switch name {
		case "IDENTITY.md", "USER.md":
			if told := s.prose(what); told != "" && len(w.Instructions)+len(told) <= maxTold {
				w.Instructions = strings.TrimSpace(w.Instructions + "\n\n" + told)
				s.folder.Report.Carry(what+" → instructions of the agent "+agent, "")
			} else if told != "" {
				s.folder.Report.Need(what, fmt.Sprintf("it is too long: shorten it to %d KB, and put it into the instructions of the agent", maxTold>>10))
			}
		case "MEMORY.md", "memory.md":
			s.remember(&w, what)
		case "HEARTBEAT.md":
			s.heartbeat(agent, what)
		case "TOOLS.md":
			s.folder.Report.See(what, "parley has other tools: copy the parts that still hold into AGENTS.md")
		}
	}
	days, _ := fs.Glob(s.folder.Root.FS(), path.Join(dir, "memory", "*.md"))
	slices.Reverse(days) // the newest first, in case there are too many notes
	for _, day := range days[:min(len(days), maxNotes)] {
		w.Files = append(w.Files, strings.TrimPrefix(day, dir+"/"))
		s.remember(&w, day)
	}
	s.found = append(s.found, w)
	return true
}

// prose reads a file of text. A file that cannot be read becomes a line of the report.
func (s *workspaceReader) prose(name string) string {
	b, err := s.folder.open(name)
	if err == nil && len(b) > maxProse {
		err = fmt.Errorf("it is larger than %d MB", maxProse>>20)
	}
	if err != nil {
		s.folder.Report.Leave(name, "the text was not read: "+err.Error())
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(strings.TrimPrefix(string(b), "\uFEFF"), "\uFFFD"), "\x00", ""))
}

// remember cuts a file of memory into notes: one for each paragraph below the same heading, with the name of the file.
func (s *workspaceReader) remember(w *Workspace, name string) {
	before, dropped := len(w.Notes), 0
	base := strings.TrimSuffix(path.Base(name), ".md")
	for _, piece := range pieces(s.prose(name), maxNote-utf8.RuneCountInString(base)-2) {
		if piece = base + ": " + piece; len(w.Notes) >= maxNotes {
			dropped++
		} else if !slices.Contains(w.Notes, piece) {
			w.Notes = append(w.Notes, piece)
		}
	}
	if n := len(w.Notes) - before; n > 0 {
		s.folder.Report.Differ(name, fmt.Sprintf("it becomes %s of the agent %s, which the tool recall finds", channels.Plural(n, "note"), w.Agent))
	}
	if dropped > 0 {
		s.folder.Report.Leave(name, fmt.Sprintf("%d notes are too many for one agent: keep the file", dropped))
	}
}

// pieces cuts a text at empty lines, and joins short neighbours below one heading up to a number of characters.
func pieces(text string, most int) (out []string) {
	heading, have := "", ""
	flush := func() {
		if have = strings.TrimSpace(have); have != "" {
			out = append(out, have)
		}
		have = ""
	}
	for _, p := range strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		if strings.HasPrefix(p, "#") {
			flush()
			first, rest, _ := strings.Cut(p, "\n")
			if heading = strings.TrimSpace(strings.TrimLeft(first, "#")); len(heading) > 200 {
				heading = strings.ToValidUTF8(heading[:200], "")
			}
			if p = strings.TrimSpace(rest); p == "" {
				continue
			}
		}
		if have != "" && utf8.RuneCountInString(have)+utf8.RuneCountInString(p)+1 > most/2 {
			flush()
		}
		switch {
		case have != "":
			have += "\n" + p
		case heading != "":
			have = heading + ": " + p
		default:
			have = p
		}
		for utf8.RuneCountInString(have) > most {
			r := []rune(have)
			cut := most
			if i := strings.LastIndexAny(string(r[:most]), "\n."); i > 0 {
				cut = utf8.RuneCountInString(string(r[:most])[:i+1])
			}
			out = append(out, strings.TrimSpace(string(r[:cut])))
			have = strings.TrimSpace(string(r[cut:]))
		}
	}
	flush()
	return out
}

// heartbeat makes a job of HEARTBEAT.md. A file with headings and comments only does nothing, as in OpenClaw.
func (s *workspaceReader) heartbeat(agent, name string) {
	asked := false
	for _, line := range strings.Split(s.prose(name), "\n") {
		line = strings.TrimSpace(line)
		asked = asked || line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "<!--")
	}
	beat, every := s.beat(agent)
	if !asked || every <= 0 {
		return
	}
	j := Job{What: "job heartbeat of " + agent, Name: heartbeatName, Agent: agent, Every: max(every, minEvery), Model: jsontree.Text(beat["model"]),
		Message: "Read HEARTBEAT.md in your workspace with the tool files, and do what it says. Do not repeat old tasks. Answer NO_REPLY if nothing needs attention."}
	if beat["activeHours"] != nil {
		j.Notes = append(j.Notes, "it also runs outside activeHours: for hours use --cron instead of --every, such as --cron '*/30 6-22 * * *'")
	}
	switch to := jsontree.Text(beat["target"]); {
	case to == "none":
	case to == "": // none; it was last before February 2026
		j.Notes = append(j.Notes, staysInSession)
	case jsontree.Text(beat["directPolicy"]) == "block":
		j.Notes = append(j.Notes, "directPolicy is block, which parley does not have, so its answer stays in the job's session; --to ADDRESS sends it to a group")
	case to == "last":
		j.To.Last = true
	default:
		j.To = JobTarget{Channel: to, Account: jsontree.Text(beat["accountId"]), To: jsontree.Text(beat["to"])}
	}
	s.jobs = append(s.jobs, j)
}
