package chatclient

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"parley/channels/webchat"
	"parley/gateway/web"
)

const (
	typingFor  = 7 * time.Second
	unsentMax  = 64            // messages that may wait for the host
	inputRows  = 8             // most rows of the input that are shown
	tryPosting = 1 * time.Hour // a host that is away for longer ends the patience of the screen
)

// What happens besides keys.
type (
	eventMsg   webchat.Event
	historyMsg struct {
		lines []web.Line
		err   error
	}
	postedMsg struct {
		id, text string
		err      error
	}
	lookMsg   struct{ n int }
	typingMsg struct{ n int }
)

// outgoing is a message on its way to the host.
type outgoing struct{ id, text string }

// screen runs the chat on a terminal. Finished lines go into the terminal's own scrollback; below them live the answer that is
// being written, the input and a status line.
func (c *client) screen(ctx context.Context, info web.Info) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	post := make(chan outgoing, unsentMax)
	m := &model{c: c, plain: c.o.NoColour, ctx: ctx, info: info, post: post, shown: map[string]bool{}, state: "connecting…", width: 80, height: 24}
	file, ok := c.o.Out.(tty)
	if !ok {
		return fmt.Errorf("the terminal: %T has no screen", c.o.Out)
	}
	out := &firstFrame{tty: file, drawn: make(chan struct{})}
	p := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(c.o.In), tea.WithOutput(out))
	ended := make(chan struct{}, 2)
	go func() {
		out.wait(ctx)
		c.follow(ctx, func(e webchat.Event) { p.Send(eventMsg(e)) })
		ended <- struct{}{}
	}()
	go func() {
		for {
			select {
			case o := <-post:
				p.Send(postedMsg{o.id, o.text, c.deliver(ctx, o.id, o.text, tryPosting)})
			case <-ctx.Done():
				ended <- struct{}{}
				return
			}
		}
	}()
	_, err := p.Run()
	cancel()
	<-ended
	<-ended
	if m.fatal != nil {
		return m.fatal
	}
	if err != nil && !errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("the terminal: %w", err)
	}
	if len(m.unsent) > 0 {
		return fmt.Errorf("not sent: %q", m.unsentTexts())
	}
	return nil
}

// model is what the screen shows. Only bubbletea's loop touches it.
type model struct {
	c    *client
	ctx  context.Context //nolint:containedctx // commands of bubbletea get no context of their own
	info web.Info
	post chan<- outgoing

	above  scrollback
	in     input
	sent   []string // for recall with the arrow keys
	recall int      // steps back in sent

	draft   string
	typing  bool
	typingN int // the newest typing event; older timers mean nothing
	state   string
	unsent  []outgoing
	shown   map[string]bool // ids, client ids and keys of lines in the scrollback
	brought []string        // deliveries that brought some of them, which is how their keys start
	looking int             // the newest look at the history
	wait    time.Duration   // until the next
	asked   string          // client id of the last message that has no answer yet
	came    bool            // something came live since that was typed
	width   int
	height  int
	plain   bool // no colours
	fatal   error
}

func (m *model) Init() tea.Cmd { return nil } // the stream's hello starts everything

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 20), max(msg.Height, 6)
	case tea.PasteMsg:
		m.in.insert(msg.Content)
	case tea.KeyPressMsg:
		return m, m.key(msg)
	case eventMsg:
		return m, m.event(webchat.Event(msg))
	case historyMsg:
		return m, m.history(msg)
	case postedMsg:
		return m, m.posted(msg)
	case lookMsg:
		if msg.n == m.looking && m.asked != "" {
			return m, m.read()
		}
	case typingMsg:
		if msg.n == m.typingN {
			m.typing = false
		}
	case printedMsg:
		return m, m.above.next(m.height)
	}
	return m, nil
}

func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	switch name := k.String(); name {
	case "ctrl+c":
		if m.in.empty() {
			return tea.Quit
		}
		m.in.take() // what is half written goes first, as in a shell
	case "enter":
		return m.say()
	case "esc":
		if m.working() {
			cmd, _ := m.send("/stop")
			return cmd
		}
	case "shift+enter", "alt+enter", "ctrl+j":
		m.in.insert("\n")
	case "up", "down":
		m.remember(name == "up")
	case "ctrl+d":
		if len(m.in.text) == 0 {
			return tea.Quit
		}
		m.in.edit(name)
	default:
		if !m.in.edit(name) && k.Text != "" {
			m.in.insert(k.Text)
		}
	}
	return nil
}

// remember puts an earlier message into an input that holds nothing else.
func (m *model) remember(back bool) {
	if m.recall == 0 && len(m.in.text) > 0 {
		return
	}
	if back {
		m.recall = min(m.recall+1, len(m.sent))
	} else {
		m.recall = max(m.recall-1, 0)
	}
	m.in = input{}
	if m.recall > 0 {
		m.in.insert(m.sent[len(m.sent)-m.recall])
	}
}

func (m *model) say() tea.Cmd {
	if m.in.empty() {
		return nil
	}
	cmd, ok := m.send(strings.TrimSpace(string(m.in.text)))
	if ok {
		m.sent = append(m.sent, strings.TrimSpace(m.in.take()))
		m.recall = 0
	}
	return cmd
}

// send queues a message and shows it; false = too many are waiting.
func (m *model) send(text string) (tea.Cmd, bool) {
	o := outgoing{rand.Text(), text}
	select {
	case m.post <- o:
	default:
		m.state = "too many unsent messages: wait for the host"
		return nil, false
	}
	m.came = false
	m.unsent = append(m.unsent, o)
	m.shown[o.id] = true
	return m.show(m.user("you", o.text)), true
}

// working reports whether the agent is at work on an answer, as far as is known.
func (m *model) working() bool { return m.draft != "" || m.typing || m.asked != "" }

func (m *model) posted(p postedMsg) tea.Cmd {
	if m.ctx.Err() != nil {
		return nil
	}
	m.unsent = m.unsent[1:] // posts are answered in order
	if p.err != nil {
		return m.show(m.warn("not sent: " + Clean(p.err.Error())))
	}
	m.asked, m.wait = p.id, pollInterval
	return m.lookLater()
}

// lookLater reads the history again while an answer is due: one that was withheld makes no event.
func (m *model) lookLater() tea.Cmd {
	m.looking++
	n := m.looking
	return tea.Tick(m.wait, func(time.Time) tea.Msg { return lookMsg{n} })
}

func (m *model) read() tea.Cmd {
	return func() tea.Msg {
		lines, err := m.c.history(m.ctx)
		return historyMsg{lines, err}
	}
}

func (m *model) event(e webchat.Event) tea.Cmd {
	switch e.Kind {
	case webchat.HelloEvent:
		m.state, m.draft = "connected", ""
		return m.read()
	case awayEvent:
		m.state = "reconnecting…"
	case closedEvent:
		m.fatal = ErrToken
		return tea.Quit
	case webchat.TypingEvent:
		m.typing = true
		m.typingN++
		n := m.typingN
		return tea.Tick(typingFor, func(time.Time) tea.Msg { return typingMsg{n} })
	case webchat.DraftEvent:
		m.draft, m.typing = e.Text, false
	case webchat.PostedEvent:
		if !m.shown[e.ID] {
			m.shown[e.ID] = true
			return m.show(m.user("you, elsewhere", e.Text))
		}
	case webchat.MessageEvent:
		m.draft, m.typing, m.asked, m.came = "", false, "", true
		if !m.knows(e.ID) {
			m.shown[e.ID] = true
			return m.show(m.agent(e.Text))
		}
	}
	return nil
}

func (m *model) knows(key string) bool {
	if m.shown[key] {
		return true
	}
	return slices.ContainsFunc(m.brought, func(d string) bool { return strings.HasPrefix(key, d) })
}

// history prints what is not there yet: everything at the start, what was missed after a break.
func (m *model) history(h historyMsg) tea.Cmd {
	if h.err != nil {
		return m.again()
	}
	var out []string
	commanded := m.came // the answer to a command may have been quicker than the word that the post arrived
	for _, l := range h.lines {
		known := m.shown[l.ID] || l.Client != "" && m.shown[l.Client]
		for k := range m.shown {
			known = known || carries(l, k)
		}
		if known {
			m.shown[l.ID] = true
		}
		if known || l.State == "pending" || l.State == "sending" {
			continue
		}
		m.shown[l.ID] = true
		if l.Client != "" {
			m.shown[l.Client] = true
		}
		commanded = commanded || answersCommand(l, m.asked, func(web.Line) bool { return false })
		m.brought = append(m.brought, l.Deliveries...)
		out = append(out, m.line(l))
	}
	got, known := answers(h.lines, m.asked)
	if !known && commanded || len(got) > 0 && got[len(got)-1].State != "pending" && got[len(got)-1].State != "sending" {
		m.asked = ""
	}
	if len(out) == 0 {
		return m.again()
	}
	return tea.Batch(m.show(strings.Join(out, "\n")), m.again())
}

func (m *model) again() tea.Cmd {
	if m.asked == "" {
		return nil
	}
	m.wait = min(2*m.wait, 30*time.Second)
	return m.lookLater()
}

func (m *model) unsentTexts() []string {
	var out []string
	for _, o := range m.unsent {
		out = append(out, o.text)
	}
	return out
}

func (m *model) line(l web.Line) string {
	if l.Role == web.User {
		who := "you"
		if l.From != "" {
			who = l.From
		}
		return m.user(who, l.Text)
	}
	s := m.agent(l.Text)
	if l.From != "" { // not said here
		s = m.user(m.info.Agent+", "+l.From, l.Text)
	}
	if why := undelivered(l); why != "" {
		s += "\n" + m.warn(Clean(why))
	}
	return s
}
