package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"parley/gateway/api"
	"parley/gateway/chatclient"
	"parley/sessions"
)

type eventsCmd struct {
	Session string `help:"Only of this session." placeholder:"SESSION"`
	Run_    string `name:"run" help:"Only of this run." placeholder:"RUN"` //nolint:revive // Run is the command's method
	Kinds   string `help:"Only these, comma-separated: run, text, tool, message, delivery, session, account, pairing, job." placeholder:"KINDS"`
	Text    bool   `help:"The answers too, as they are written."`
	Count   int    `help:"End after so many events." placeholder:"N"`
	JSON    bool   `help:"Print one JSON object in a line for each event."`
}

// Help shows examples.
func (eventsCmd) Help() string {
	return "Runs until Ctrl-C (exit code 130), over restarts of the host.\n\nExamples:\n\n  parley events\n  parley events --session main --text\n  parley events --kinds delivery --json | jq -c 'select(.state == \"withheld\")'"
}

const (
	quietFor  = 60 * time.Second // keep-alives that are missing so long: the connection is dead
	lookBack  = time.Second      // between two tries to reach a host that went away
	eventSize = 16 << 20
)

// errEnough ends a stream that has given what was asked for.
var errEnough = errors.New("enough")

// Run prints what happens on the running host.
func (c eventsCmd) Run(e *env) error {
	key, err := optionalSession(e, c.Session)
	if err != nil {
		return err
	}
	p := e.page()
	n := 0
	on := func(x api.Event) error {
		if x.Kind == "text" && !c.Text && !strings.Contains(c.Kinds, "text") {
			return nil
		}
		if c.JSON {
			b, err := api.Marshal(x)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(p.out, escapeJSON(string(b))+"\n"); err != nil {
				return errEnough // nobody reads any more
			}
		} else if err := p.event(x); err != nil {
			return errEnough
		}
		if n++; c.Count > 0 && n >= c.Count {
			return errEnough
		}
		return nil
	}
	q := api.EventsQuery{Session: key, Run: sessions.RunID(c.Run_), Kinds: c.Kinds}
	for first := true; ; first = false {
		err := follow(e, q, on)
		switch {
		case errors.Is(err, errEnough):
			return nil
		case e.ctx.Err() != nil:
			return interrupted("")
		case first && err != nil && !errors.Is(err, io.ErrUnexpectedEOF): // it never began
			return err
		}
		if f, ok := errors.AsType[*failure](err); ok && f.exit != exitAway {
			return err
		}
		if !p.quiet && err == nil {
			fmt.Fprintln(os.Stderr, "parley: the host ended the stream; what happened meanwhile is not shown")
		}
		e.found = nil // the next one may be elsewhere
		select {
		case <-e.ctx.Done():
		case <-time.After(lookBack):
		}
	}
}

// follow reads one stream of events until it ends: nil when the host ended it.
func follow(e *env, q api.EventsQuery, on func(api.Event) error) error {
	h, err := e.reach()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	dead := time.AfterFunc(quietFor, cancel)
	defer dead.Stop()
	c := parts("GET /api/events", q)
	req, err := http.NewRequestWithContext(ctx, c.method, h.base+c.path+"?"+c.query.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := h.do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return h.explained(e, refusal(resp))
	}
	return readEvents(resp.Body, func() { dead.Reset(quietFor) }, on)
}

// readEvents reads server-sent events. alive is called for each line.
func readEvents(r io.Reader, alive func(), on func(api.Event) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(nil, eventSize)
	for in.Scan() {
		alive()
		data, ok := strings.CutPrefix(in.Text(), "data:")
		if !ok {
			continue
		}
		var x api.Event
		if err := json.Unmarshal([]byte(data), &x); err != nil {
			return fmt.Errorf("read an event of the host: %w", err)
		}
		if x.Kind == "" {
			continue
		}
		if err := on(x); err != nil {
			return err
		}
	}
	return nil // also a connection that broke: the stream begins again
}

// event prints one line.
func (p *page) event(x api.Event) error {
	at := x.Time.Local().Format(time.TimeOnly)
	if p.utc {
		at = p.stamp(x.Time)
	}
	what, state := eventWords(x)
	line := fmt.Sprintf("%s  %-8s  ", at, chatclient.OneLine(x.Kind))
	rest := strings.TrimSpace(chatclient.OneLine(strings.Join([]string{string(x.Session), what}, "  ")))
	room := 0
	if p.width > 0 {
		room = max(p.width-len(line)-len(state)-1, 1)
	}
	if state != "" {
		state = p.paint(moods[state], chatclient.OneLine(state)) + " "
	}
	_, err := io.WriteString(p.out, p.paint(faint, line)+state+cut(rest, room)+"\n") // cleaned above
	return err
}

// eventWords says what happened, and the state that something is in.
func eventWords(x api.Event) (what, state string) {
	switch x.Kind {
	case "run":
		return strings.TrimSpace(string(x.RunKind) + " " + string(x.Run)), string(x.Status)
	case "text":
		return x.Text, ""
	case "tool":
		return strings.TrimSpace(x.Tool + " " + x.Text), string(x.Status)
	case "message":
		return "message " + x.Message, ""
	case "delivery":
		s := "delivery " + string(x.Delivery)
		if x.Rule != "" {
			s += " by " + x.Rule
		}
		return s, string(x.State)
	case "account", "pairing":
		return strings.TrimSpace(string(x.Channel) + " " + string(x.Account) + " " + x.Text), ""
	case "job":
		return strings.TrimSpace("job " + x.Job + " " + string(x.Run)), string(x.Status)
	}
	return strings.TrimSpace(x.Text), string(x.Status)
}
