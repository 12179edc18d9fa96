package chatclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"parley/channels"
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
		if !channels.Sleep(ctx, wait) {
			return
		}
		wait = min(2*wait, 10*time.Second)
	}
}

// errReload ends a stream that begins again: the reader was too slow.
var errReload = errors.New("the host restarted the stream")

// events reads server-sent events until they end. alive is called for each line. Pings are left out.
func events(r io.Reader, alive func(), on func(name string, data []byte) error) error {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 1<<16), maxEvent)
	var kind string
	var data []byte
	for in.Scan() {
		alive()
		line := in.Text()
		if line == "" {
			if kind != "" && kind != "ping" {
				if err := on(kind, data); errors.Is(err, errReload) {
					return nil
				} else if err != nil {
					return fmt.Errorf("read an event of the host: %w", err)
				}
			}
			kind, data = "", nil
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "event":
			kind = value
		case "data":
			data = []byte(value)
		}
	}
	return in.Err()
}
