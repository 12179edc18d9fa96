package chatclient

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"parley/channels/webchat"
)

const (
	silence  = 45 * time.Second // three keep-alives missed: the connection is dead, whatever the network says
	maxEvent = 64 << 20         // bytes of one event
)

// follow gives the events of the chat to on, one at a time, over broken connections until ctx ends: hello after each connect,
// away after each break. It ends early only with closed, when the host does not take the token any more.
func (c *client) follow(ctx context.Context, on func(webchat.Event)) {
	wait := 250 * time.Millisecond
	for ctx.Err() == nil {
		err := c.stream(ctx, func(e webchat.Event) {
			wait = 250 * time.Millisecond
			on(e)
		})
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, ErrToken) {
			on(webchat.Event{Kind: closedEvent})
			return
		}
		on(webchat.Event{Kind: awayEvent})
		if !sleep(ctx, wait) {
			return
		}
		wait = min(2*wait, 10*time.Second)
	}
}

// stream reads one connection to its end.
func (c *client) stream(ctx context.Context, on func(webchat.Event)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dead := time.AfterFunc(silence, cancel)
	defer dead.Stop()
	res, err := c.request(ctx, http.MethodGet, "events", nil, nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	in := bufio.NewScanner(res.Body)
	in.Buffer(make([]byte, 0, 1<<16), maxEvent)
	var e webchat.Event
	for in.Scan() {
		dead.Reset(silence)
		line := in.Text()
		if line == "" {
			switch e.Kind {
			case "", "ping":
			case webchat.ReloadEvent:
				return nil
			default:
				on(e)
			}
			e = webchat.Event{}
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			e.Kind = webchat.EventKind(value)
		case "data":
			if err := json.Unmarshal([]byte(value), &e); err != nil {
				return fmt.Errorf("an event of the host: %w", err)
			}
		}
	}
	return in.Err()
}
