package endpointtest

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/agent/modeltest/endpoints"
	"parley/channels"
)

// Part is the part of the table that one package plays.
type Part string

// The parts. Each row is in one of them.
const (
	Chat      Part = "chat"     // chat completions that are answered
	Refusals  Part = "refusals" // chat completions of which some are refused, so that the host has to learn
	Responses Part = "responses"
	Messages  Part = "messages"
)

func partOf(r endpoints.Row) Part {
	switch {
	case r.Protocol() == endpoints.Responses:
		return Responses
	case r.Protocol() == endpoints.Messages:
		return Messages
	case r.Want.Refused > 0:
		return Refusals
	}
	return Chat
}

// Play plays the rows of a part against a whole host, from the message in a chat to the answer in it: a plain turn, a tool, a follow-up and, where it
// applies, a picture; then with the host started again on the same state a follow-up, a second provider that steps in, and the next turn at this endpoint; then
// with the host started on the files that a kill left. What belongs to the model alone is never shown.
func Play(t *testing.T, part Part) {
	t.Helper()
	ids := map[string]bool{}
	for _, row := range endpoints.Table() {
		if ids[row.ID] {
			t.Errorf("two rows are called %s", row.ID)
		}
		ids[row.ID] = true
		if partOf(row) != part {
			continue
		}
		t.Run(row.ID, func(t *testing.T) {
			t.Parallel()
			e := newEndpoint(t, row)
			e.first()
			e.again()
			e.quietly()
			e.afterKill()
		})
	}
}

// endpoint is a row at work.
type endpoint struct {
	t      *testing.T
	row    endpoints.Row
	server *endpoints.Server
	url    string
	spare  string // the second provider's address
	tools  string // of the MCP server; empty = none
	dir    string
	killed string // a copy of dir as a kill leaves it; empty = there is none
	said   int    // messages of people so far
	host   *endpointHost
	shown  []string // all that a chat ever showed
	logs   string   // of all lives, with the first screens
	counts counts
	id     string // in the last answer to a program
}

// counts are the requests of one life of the host.
type counts struct{ from int }

func newEndpoint(t *testing.T, row endpoints.Row) *endpoint {
	t.Helper()
	e := &endpoint{t: t, row: row, dir: t.TempDir(), killed: t.TempDir(), server: endpoints.NewServer(row)}
	serve := func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL
	}
	e.url = serve(e.server)
	e.spare = serve(endpoints.NewServer(endpoints.Spare()))
	if row.Tools != nil {
		e.tools = serve(mountedTools(row))
	}
	return e
}

// config is the host's configuration. Agent main has this endpoint alone; agent second has the spare one behind it.
func (e *endpoint) config() string {
	r := e.row
	join := func(more string, parts ...string) string {
		if more != "" {
			parts = append(parts, more)
		}
		return strings.Join(parts, ", ")
	}
	provider := fmt.Sprintf("    row: {%s}\n", join(r.Config, "api: "+string(r.API), "baseUrl: \""+e.url+r.Path+"\"", "apiKey: key-of-the-test"))
	defaults := []string{fmt.Sprintf("model: %q", "row/"+r.Model)}
	if r.Chosen {
		provider, defaults = "", nil
	}
	if r.Thinking != "" {
		defaults = append(defaults, "thinking: \""+r.Thinking+"\"")
	}
	text := fmt.Sprintf(`state: state
gateway: {%s}
models:
  providers:
%s    spare: {api: %s, baseUrl: "%s/v1", apiKey: key-of-the-test}
agents:
  defaults: {%s}
  list:
    - {id: main, default: true}
    - {id: second, fallbacks: [spare/spare-1]}
bindings:
  - {agentId: second, match: {channel: fake, peer: {kind: direct, id: two}}}
messages: {queue: {mode: steer}}
`, join(r.Gateway, `listen: "127.0.0.1:0"`, "token: "+endpointToken), provider, endpoints.Spare().API, e.spare, join(r.Agents, defaults...))
	if e.tools != "" {
		text += "tools: {mcp: {servers: {odd: {" + join(r.Mount.Config, e.mount()...) + "}}}}\n"
	}
	return text
}

// first is the first life of the host.
func (e *endpoint) first() {
	w := e.row.Want
	e.start()
	defer e.stop()
	e.turn("plain", "one", "hello", w.Plain)
	e.toolWithKill()
	e.turn("follow-up", "one", "and now?", w.Follow)
	e.turn("tool again", "one", "use the tool again", w.Tool)
	if w.Interrupt {
		e.interrupt()
	}
	e.turn("image", "one", "what is in this picture?", w.Image)
	e.count("first", w.Refused)
	e.programs(false)
}

// again is the second life, with the state of the first.
func (e *endpoint) again() {
	w := e.row.Want
	e.start()
	defer e.stop()
	e.turn("restart", "one", "are you there?", w.Restart)
	e.count("second", w.Again)
	e.programs(true)
	if w.Fallback == endpoints.None {
		return
	}
	e.server.SetDown(w.Back != endpoints.None) // an endpoint that never answers fails in its own way
	e.turn("fallback", "two", "use the tool", w.Fallback)
	e.server.SetDown(false)
	e.turn("back", "two", "and here?", w.Back)
	if w.Back != endpoints.None {
		e.count("after a fallback", max(w.Again, 1)) // what the other model's call has to look like here may be learned
	}

}

// turn has a person say something, and looks at what comes.
func (e *endpoint) turn(scenario, chat, text, want string) {
	e.t.Helper()
	if want == endpoints.None {
		return
	}
	if e.host.err != nil {
		e.t.Errorf("%s: %s: the host does not start: %v", e.row.ID, scenario, e.host.err)
		return
	}
	in := e.message(chat, text)
	if scenario == "image" {
		in.Media = []channels.Media{{Kind: channels.Image, Ref: "cat", Name: "cat.png", MIME: "image/png"}}
	}
	before := len(e.server.Log())
	got := e.host.say(in)
	if regexp.MustCompile(want).MatchString(got) {
		return
	}
	tail := ""
	if all := e.server.Log(); len(all) > before {
		tail = withoutTools(all[len(all)-1].Raw)
		tail = tail[max(0, len(tail)-700):]
	}
	e.t.Errorf("%s: %s: %q is answered with\n\t%q, not\n\t%s\nrequests:\n\t%s\nthe last one ends with\n\t%s\nthe log ends with\n%s", e.row.ID, scenario, text, got, want,
		e.replies(before), tail, e.host.lastLines(4))
}

// interrupt has a person write while the model is at work, so that the message comes behind a tool's result; and stop a turn that
// waits for the model after a tool.
func (e *endpoint) interrupt() {
	e.t.Helper()
	if e.host.err != nil {
		return // said already
	}
	wait := func(what string, c <-chan struct{}) bool {
		e.t.Helper()
		select {
		case <-c:
			return true
		case <-time.After(turnLimit):
			e.t.Errorf("%s: interrupt: %s; the chat ends with %q; %s", e.row.ID, what, e.host.chat.Texts(endpointChat("one")), e.replies(0))
			return false
		}
	}
	waits, release := e.server.Hold("user")
	e.host.chat.Say(e.message("one", "use the tool"))
	if !wait("the model was not asked", waits) {
		return
	}
	accepted, _ := e.host.chat.Accepted()
	e.host.chat.Say(e.message("one", "and meanwhile?"))
	ctx, cancel := context.WithTimeout(e.t.Context(), turnLimit)
	defer cancel()
	if err := e.host.chat.WaitAccepted(ctx, len(accepted)+1); err != nil {
		e.t.Errorf("%s: interrupt: the second message is not taken: %v", e.row.ID, err)
	}
	release()
	before := len(e.server.Log())
	if err := e.host.chat.Wait(ctx, func() bool {
		texts := e.host.chat.Texts(endpointChat("one"))
		return strings.HasPrefix(texts[len(texts)-1], "echo: and meanwhile?")
	}); err != nil {
		e.t.Errorf("%s: steer: a message behind a tool's result is not answered: the chat ends with %q; %s", e.row.ID, e.host.chat.Texts(endpointChat("one")), e.replies(before))
		return
	}
	waits, release = e.server.Hold("tool")
	defer release()
	e.host.chat.Say(e.message("one", "use the tool"))
	if !wait("the tool's result did not come", waits) {
		return
	}
	e.host.say(e.message("one", "/stop"))
	e.turn("after a stop", "one", "go on", "^echo: go on$")
}

// message is what a person says.
func (e *endpoint) message(chat, text string) channels.Inbound {
	e.said++
	return channels.Inbound{Text: text, ID: channels.MessageID(fmt.Sprint("said-", e.said)), Sender: channels.Sender{ID: channels.UserID(chat)}, Address: endpointChat(chat)}
}

// replies are what the server said since its log was so long.
func (e *endpoint) replies(since int) string {
	var all []string
	for _, r := range e.server.Log()[since:] {
		all = append(all, fmt.Sprintf("%s refused %t, failed %t: %.500s", r.Path, r.Refused, r.Failed, r.Reply))
	}
	if n := len(all); n > 6 {
		all = append(append(all[:3:3], fmt.Sprintf("… %d more", n-6)), all[n-3:]...)
	}
	return strings.Join(all, "\n\t")
}

// withoutTools takes the tools out of a request, which are long and rarely the cause.
func withoutTools(raw string) string {
	return regexp.MustCompile(`"tools":\[\{.*?\}\](,"[a-z_]+":|\})`).ReplaceAllString(raw, `"tools":…$1`)
}

// count looks at how many requests were refused since it was asked last, and how many were answered.
func (e *endpoint) count(life string, refused int) {
	e.t.Helper()
	n, answered, why := 0, 0, ""
	for _, r := range e.server.Log()[e.counts.from:] {
		if r.Refused {
			n++
			why = r.Reply
		} else if !r.Failed {
			answered++
		}
	}
	e.counts.from = len(e.server.Log())
	if answered > endpoints.MostAnswered && !e.row.Want.Interrupt && !e.t.Failed() {
		e.t.Errorf("%s: requests: %d were answered in the %s life, not %d at most", e.row.ID, answered, life, endpoints.MostAnswered)
	}
	if n > refused && !e.t.Failed() {
		e.t.Errorf("%s: requests: %d were refused in the %s life, not %d at most; the last one: %.500s", e.row.ID, n, life, refused, why)
	}
}

// notForPeople is what no chat may show.
var notForPeople = regexp.MustCompile(endpoints.Musing + `|` + endpoints.OpaqueMark + `|</?(seed:)?think|</?reason|<\|?tool|\[TOOL_CALLS\]|<function|<invoke|DSML|\[/?THINK\]|<\|channel|sessions_list`)

// quietly looks at all that was shown, at what is kept for people, and at what was sent.
func (e *endpoint) quietly() {
	e.t.Helper()
	w := e.row.Want
	for _, s := range e.shown {
		if !e.row.Unhidden && notForPeople.MatchString(s) {
			e.t.Errorf("%s: hidden: the chat showed %q", e.row.ID, s)
			break
		}
	}
	err := filepath.WalkDir(filepath.Join(e.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".jsonl") {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), endpoints.OpaqueMark) {
			e.t.Errorf("%s: hidden: opaque data of the provider is in %s", e.row.ID, filepath.Base(path))
		}
		return err
	})
	if err != nil && e.host.err == nil {
		e.t.Error(err)
	}
	if w.Log != "" && !regexp.MustCompile(w.Log).MatchString(e.logs) {
		e.t.Errorf("%s: told: nothing in the log of the host and on its screen matches %s:\n%.3000s", e.row.ID, w.Log, e.logs)
	}
	for _, want := range w.Sends {
		if re := regexp.MustCompile(want); !slices.ContainsFunc(e.server.Log(), func(s endpoints.Seen) bool { return re.MatchString(s.Raw) }) {
			e.t.Errorf("%s: sent: no request matches %s", e.row.ID, want)
		}
	}
	for _, want := range w.Lacks {
		re := regexp.MustCompile(want)
		for _, s := range e.server.Log() {
			if !s.Refused && re.MatchString(s.Raw) {
				e.t.Errorf("%s: sent: a request matches %s", e.row.ID, want)
				break
			}
		}
	}
}

func endpointChat(chat string) channels.Address {
	return channels.Address{Channel: "fake", Account: channels.DefaultAccount, Type: channels.Direct, Chat: channels.ChatID(chat)}
}

// turnLimit is how long a turn may take. Only a turn that fails takes so long.
const turnLimit = 20 * time.Second
