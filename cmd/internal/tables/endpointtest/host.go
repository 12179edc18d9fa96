package endpointtest

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"image/png"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"parley/channels"
	"parley/channels/channeltest"
	"parley/cmd/internal/tables"
	"parley/gateway"
	"parley/gateway/accounts"
	"parley/gateway/config"
	"parley/gateway/gatewaytest"
	"parley/policy"
)

// endpointHost is a whole host in this process, with the program's own table of providers and a chat without a platform.
type endpointHost struct {
	chat *pictureChat
	log  *gatewaytest.Buffer
	err  error // why it did not start
	url  string
	stop func()
}

// endpointToken is the owner's token of every such host.
const endpointToken = "a-token-of-the-test"

// toolsLog is a log that tells when the row's server of tools runs, or whatever else turns have to wait for: what is refused of its tools is learned in the first turn then, not in a
// later life.
type toolsLog struct {
	*gatewaytest.Buffer
	ready *regexp.Regexp
	once  sync.Once
	runs  chan struct{}
}

func (l *toolsLog) Write(p []byte) (int, error) {
	if l.ready.Match(p) {
		l.once.Do(func() { close(l.runs) })
	}
	return l.Buffer.Write(p)
}

// pictureChat is a chat of which every picture is the same cat.
type pictureChat struct{ *channeltest.Full }

// Fetch implements channels.Fetcher.
func (pictureChat) Fetch(context.Context, channels.Media, int64) ([]byte, error) {
	var b bytes.Buffer
	err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2)))
	return b.Bytes(), err
}

// start starts a host on the endpoint's folder.
func (e *endpoint) start() {
	e.t.Helper()
	h := &endpointHost{log: &gatewaytest.Buffer{}, stop: func() {}}
	e.host = h
	h.chat = &pictureChat{channeltest.NewFake(channeltest.Options{}).Full()}
	path := filepath.Join(e.dir, "config.yaml")
	if err := os.WriteFile(path, []byte(e.config()), 0o600); err != nil {
		e.t.Fatal(err)
	}
	table := []accounts.Adapter{{
		Adapter: config.Adapter{Kind: "fake", Always: true, Access: &policy.Access{DMPolicy: policy.DMOpen, AllowFrom: []string{"*"}, GroupPolicy: policy.GroupDisabled}},
		Open:    func(config.Account, accounts.Env) (channels.Channel, error) { return h.chat, nil },
	}}
	getenv := func(name string) string {
		return strings.NewReplacer("{url}", e.url, "{host}", strings.TrimPrefix(e.url, "http://")).Replace(e.row.Env[name])
	}
	c, _, err := config.Load(path, accounts.Table(table), getenv)
	if err != nil {
		h.err = err
		return
	}
	log := &toolsLog{Buffer: h.log, ready: regexp.MustCompile(cmp.Or(e.row.Mount.Ready, "MCP server is running")), runs: make(chan struct{})}
	g, err := gateway.Open(e.t.Context(), gateway.Deps{
		Config: config.NewLive(c, accounts.Table(table), getenv), Adapters: table, Providers: tables.Providers(), Getenv: getenv, Began: time.Now(),
		Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
	if err != nil {
		h.err = err
		return
	}
	h.url = g.URL()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- g.Run(ctx) }()
	h.stop = func() {
		e.logs += h.log.String() + g.Screen(ctx, time.Second, false)
		cancel()
		if err := <-ended; err != nil {
			e.t.Errorf("%s: the host ended with %v", e.row.ID, err)
		}
	}
	if e.row.Tools == nil {
		return
	}
	select {
	case <-log.runs:
	case <-time.After(turnLimit):
		e.t.Errorf("%s: the server of tools does not run:\n%s", e.row.ID, h.lastLines(8))
	}
}

// stop ends the host, and keeps what its chat showed.
func (e *endpoint) stop() {
	e.host.stop()
	ops := []channeltest.Op{channeltest.OpSend, channeltest.OpEdit}
	if !e.row.InDrafts {
		ops = append(ops, channeltest.OpDraft)
	}
	for _, c := range e.host.chat.Calls(ops...) {
		e.shown = append(e.shown, c.Out.Text+c.Text)
	}
}

// say has a person write, and gives the next message that the chat shows.
func (h *endpointHost) say(in channels.Inbound) string {
	before := len(h.chat.Texts(in.Address))
	h.chat.Say(in)
	return h.next(in.Address, before)
}

// next waits for a message behind the first few of a chat.
func (h *endpointHost) next(chat channels.Address, before int) string {
	ctx, cancel := context.WithTimeout(context.Background(), turnLimit)
	defer cancel()
	if err := h.chat.Wait(ctx, func() bool { return len(h.chat.Texts(chat)) > before }); err != nil {
		return "(no answer)"
	}
	return h.chat.Texts(chat)[before]
}

// lastLines gives the end of the log.
func (h *endpointHost) lastLines(n int) string {
	lines := strings.Split(strings.TrimSpace(h.log.String()), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
