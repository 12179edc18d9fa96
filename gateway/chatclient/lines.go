package chatclient

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"parley/channels/webchat"
	"parley/gateway/api"
	"parley/gateway/web"
	"parley/sessions"
)

const (
	pollInterval   = 2 * time.Second  // between two looks at the history while an answer is due
	settle         = 15 * time.Second // a message that the history does not know is taken as the answer after so long without a sign of more
	restartTimeout = 30 * time.Second // a host that restarts is back within this
)

// lines is the chat for pipes: each line of In is a message; the next one is read when its answer has been written to Out.
func (c *client) lines(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events := make(chan webchat.Event)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		c.follow(ctx, func(e webchat.Event) {
			select {
			case events <- e:
			case <-ctx.Done():
			}
		})
	}()
	defer func() { cancel(); <-ended }()

	d := dialog{c: c, events: events, seen: map[string]bool{}}
	if err := d.ready(ctx); err != nil {
		return err
	}
	var failed []error
	in := read(ctx, c.o.In)
	for {
		var l inLine
		var ok bool
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-events: // between two messages: something that nobody asked for, like an announce
			if err := d.show(e); err != nil {
				return err
			}
			continue
		case l, ok = <-in:
		}
		if !ok {
			return errors.Join(failed...)
		}
		if l.err != nil {
			return errors.Join(append(failed, l.err)...)
		}
		if strings.TrimSpace(l.text) == "" {
			continue
		}
		err := d.ask(ctx, l.text)
		if stop, ok := errors.AsType[*fatal](err); ok {
			return errors.Join(append(failed, stop.err)...)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%.60q: %w", l.text, err))
		}
	}
}

// fatal is an error after which no other message is worth a try.
type fatal struct{ err error }

func (f *fatal) Error() string { return f.err.Error() }

type inLine struct {
	text string
	err  error
}

// read gives the lines of r. Its goroutine ends with r or, when r never ends, with the process.
func read(ctx context.Context, r io.Reader) <-chan inLine {
	out := make(chan inLine)
	go func() {
		defer close(out)
		in := bufio.NewScanner(r)
		in.Buffer(nil, 2*webchat.MaxText)
		give := func(l inLine) bool {
			select {
			case out <- l:
				return true
			case <-ctx.Done():
				return false
			}
		}
		for in.Scan() {
			if !give(inLine{text: in.Text()}) {
				return
			}
		}
		if err := in.Err(); err != nil {
			give(inLine{err: fmt.Errorf("read the input: %w", err)})
		}
	}()
	return out
}

// dialog is one conversation in line mode.
type dialog struct {
	c      *client
	events <-chan webchat.Event
	seen   map[string]bool // keys, or the deliveries that keys start with, of messages that were printed
	last   string          // text that was printed last
	open   bool            // the turn that answers the message under way has not ended
	old    map[string]bool // ids of the answers to commands before the message under way; nil = not known
}

// ready waits for the first hello, so that no answer can be missed.
func (d *dialog) ready(ctx context.Context) error {
	t := time.NewTimer(restartTimeout)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
			return ErrNoHost
		case e := <-d.events:
			if e.Kind == webchat.HelloEvent {
				return nil
			}
			if e.Kind == closedEvent {
				return ErrToken
			}
		}
	}
}

// ask posts a message and prints what answers it.
func (d *dialog) ask(ctx context.Context, text string) error {
	id := rand.Text()
	d.before(ctx)
	came, err := d.hand(ctx, id, text)
	if err != nil {
		return err
	}
	quiet := time.NewTimer(d.c.o.Patience)
	defer quiet.Stop()
	look := time.NewTicker(pollInterval)
	defer look.Stop()
	var doubt <-chan time.Time // runs once something came that the history does not know as the answer
	for {
		if came != "" {
			if done, err := d.look(ctx, id, came); done {
				return err
			}
			doubt = time.After(settle)
			if d.open {
				doubt = nil
			}
		}
		came = ""
		select {
		case <-ctx.Done():
			return &fatal{&interrupted{fmt.Sprintf("while waiting for the answer to %.60q: the history will show it", text), ctx.Err()}}
		case <-quiet.C:
			return fmt.Errorf("no answer within %s", d.c.o.Patience)
		case <-doubt:
			return nil
		case <-look.C:
			if done, err := d.look(ctx, id, ""); done {
				return err
			}
		case e := <-d.events:
			quiet.Reset(d.c.o.Patience)
			if err := d.show(e); err != nil {
				return err
			}
			if doubt != nil {
				doubt = time.After(settle)
			}
			if e.Kind == webchat.MessageEvent {
				came = e.ID
			}
		}
	}
}

// before remembers the answers to earlier commands, so that a new one can be told from them: a command is not in the history,
// and an answer that is withheld makes no event.
func (d *dialog) before(ctx context.Context) {
	d.old = nil
	lines, err := d.c.history(ctx)
	if err != nil {
		return // a host that restarts takes the post in a moment
	}
	d.old = map[string]bool{}
	for _, l := range lines {
		if l.Command {
			d.old[l.ID] = true
		}
	}
}

// hand posts a message, and shows what comes meanwhile: the answer may be quicker than the word that the post arrived. came is
// the key of what came last.
func (d *dialog) hand(ctx context.Context, id, text string) (came string, err error) {
	posted := make(chan error, 1)
	go func() { posted <- d.c.deliver(ctx, id, text, restartTimeout) }()
	for {
		select {
		case err := <-posted:
			if err != nil && ctx.Err() != nil {
				return came, &fatal{&interrupted{fmt.Sprintf("while sending %.60q: it may have arrived; check the history", text), ctx.Err()}}
			}
			if errors.Is(err, ErrNoHost) || errors.Is(err, ErrToken) {
				return came, &fatal{err}
			}
			return came, err
		case e := <-d.events:
			if err := d.show(e); err != nil {
				return came, err
			}
			if e.Kind == webchat.MessageEvent {
				came = e.ID
			}
		}
	}
}

// show prints a message event, once.
func (d *dialog) show(e webchat.Event) error {
	if e.Kind == closedEvent {
		return &fatal{ErrToken}
	}
	if e.Kind != webchat.MessageEvent {
		return nil
	}
	for k := range d.seen {
		if strings.HasPrefix(e.ID, k) {
			return nil
		}
	}
	d.seen[e.ID] = true
	return d.print(e.Text)
}

func (d *dialog) print(text string) error {
	d.last = text
	if _, err := fmt.Fprintln(d.c.o.Out, Clean(strings.TrimRight(text, "\n"))); err != nil {
		return &fatal{fmt.Errorf("write the answer: %w", err)}
	}
	return nil
}

// look reads in the history what became of a message. done: its answer came or never will; what the stream missed is printed.
// came is the key of a message that came live since the last look, if any.
func (d *dialog) look(ctx context.Context, id, came string) (done bool, err error) {
	lines, err := d.c.history(ctx)
	if err != nil {
		return false, nil //nolint:nilerr // the stream notices a host that is away, and the next look tries again
	}
	got, known := answers(lines, id)
	run := runOf(lines, id)
	if !known { // a command
		old := func(l web.Line) bool { return d.old == nil || d.old[l.ID] }
		if i := slices.IndexFunc(lines, func(l web.Line) bool { return answersCommand(l, id, old) }); i >= 0 {
			got = lines[i : i+1]
		}
		// What came and is no part of the conversation either is its answer, even when nothing here links the two.
		done = came != "" && len(got) == 0 && !slices.ContainsFunc(lines, func(l web.Line) bool { return !l.Command && carries(l, came) })
	}
	for _, l := range got {
		if why := undelivered(l); why != "" {
			if _, err := d.over(ctx, run, true); err != nil {
				return true, err
			}
			return true, errors.New(why)
		}
		if !d.printed(l) {
			if l.State != "sent" && l.State != "" {
				continue // on its way
			}
			for _, id := range l.Deliveries {
				d.seen[id] = true
			}
			if err := d.print(l.Text); err != nil {
				return true, err
			}
		}
		done = true
	}
	return d.over(ctx, run, done)
}

// runOf gives the turn that answers the message with a client id; "" = the history does not say.
func runOf(lines []web.Line, id string) sessions.RunID {
	if i := slices.IndexFunc(lines, func(l web.Line) bool { return id != "" && l.Client == id }); i >= 0 {
		return lines[i].Run
	}
	return ""
}

// over reports whether nothing more comes of the turn that answers a message, and the error that its end is; shown says that words of it were
// printed. Of a turn that the host does not tell of, the words are the end.
func (d *dialog) over(ctx context.Context, run sessions.RunID, shown bool) (done bool, err error) {
	d.open = false
	if run == "" {
		return shown, nil
	}
	w, err := d.c.outcome(ctx, run)
	if err != nil {
		return shown, nil //nolint:nilerr // a host that is away is noticed by the stream
	}
	d.open = !w.Final
	if !w.Final || w.Outcome == api.Answered || w.Outcome == "" {
		return w.Final && shown, nil
	}
	if d.c.o.Ended == nil {
		return true, nil
	}
	return true, d.c.o.Ended(w)
}

func (d *dialog) printed(l web.Line) bool {
	for k := range d.seen {
		if carries(l, k) {
			return true
		}
	}
	return len(l.Deliveries) == 0 && l.Text == d.last
}
