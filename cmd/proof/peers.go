package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// peersCmd measures a host by what hosts of chat agents can be compared by: the program is a black box between a stand-in Telegram
// and an instant model. Without a command it is parley, and what parley alone has is measured too.
type peersCmd struct {
	Command  []string      `arg:"" optional:"" help:"Command of another host. It runs in its own folder, which is also its HOME."`
	Template string        `type:"existingfile" placeholder:"FILE" help:"The other host's configuration, with {{.Telegram}}, {{.Token}}, {{.Model}} and {{.Dir}} in it."`
	File     string        `default:"config.yaml" help:"Path of the configuration in the host's folder."`
	Starts   int           `default:"5" help:"Number of starts to measure."`
	Messages int           `default:"200" help:"Number of messages to send one after the other in one chat."`
	Burst    int           `default:"1000" help:"Number of messages of the burst."`
	Chats    int           `default:"100" help:"Number of chats of the burst."`
	Flight   int           `default:"50" help:"Number of messages in flight at the kill."`
	Sessions int           `default:"10000" help:"Number of sessions of a large store."`
	Silence  time.Duration `default:"20s" help:"Silence after which the host counts as finished."`
	JSON     bool          `name:"json" help:"Print the figures as JSON."`
}

// figure is one line of the comparison.
type figure struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// comparison is one measurement under way.
type comparison struct {
	peersCmd
	*pair
	figures []figure
	own     bool // the host is parley
	written int  // messages so far
	missed  []string
}

func (c *comparison) note(name, format string, a ...any) {
	f := figure{name, fmt.Sprintf(format, a...)}
	c.figures = append(c.figures, f)
	if !c.JSON {
		fmt.Fprintf(os.Stderr, "%s: %s\n", f.Name, f.Value)
	}
}

// Validate says what cannot be asked for.
func (c peersCmd) Validate() error {
	return errors.Join(atLeast("--starts", c.Starts, 1), atLeast("--messages", c.Messages, 1), atLeast("--burst", c.Burst, 1), atLeast("--chats", c.Chats, 1),
		atLeast("--flight", c.Flight, 1), atLeast("--sessions", c.Sessions, 1), moreThanNone("--silence", c.Silence))
}

func (c peersCmd) Run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	own := len(c.Command) == 0
	if own {
		path := filepath.Join(dir, "parley")
		if !c.JSON {
			fmt.Fprintln(os.Stderr, "build parley")
		}
		if err := goBuild(ctx, path, "-trimpath", "-ldflags", "-s -w"); err != nil {
			return err
		}
		c.Command, c.File = []string{path, "--config", "config.yaml"}, "config.yaml"
	}
	text := ownTemplate
	if c.Template != "" {
		b, err := os.ReadFile(c.Template)
		if err != nil {
			return err
		}
		text = string(b)
	}
	p, err := newPair(filepath.Join(dir, "home"), c.Command, text, c.File)
	if err != nil {
		return err
	}
	defer p.close()
	m := &comparison{peersCmd: c, pair: p, own: own}
	scenes := []func(context.Context) error{m.start, m.calm, m.backToBack, m.burst, m.killInFlight}
	if own {
		scenes = append(scenes, m.orchestrate, m.killSubAgent, m.large)
	}
	for _, scene := range scenes {
		if err := scene(ctx); err != nil {
			return errors.Join(err, m.verdict())
		}
	}
	return errors.Join(m.print(), m.verdict())
}

// verdict is an error when parley has not kept what it promises.
func (c *comparison) verdict() error {
	if len(c.missed) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s", errMark, strings.Join(c.missed, "; "))
}

func (c *comparison) print() error {
	if c.JSON {
		return json.NewEncoder(os.Stdout).Encode(c.figures)
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, f := range c.figures {
		fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Value)
	}
	return t.Flush()
}

// ownTemplate is parley's configuration.
const ownTemplate = `
state: state
gateway: {listen: "127.0.0.1:0"}
log: {level: warn}
models: {providers: {mock: {api: openai, baseUrl: {{.Model}}/v1, apiKey: x, contextWindow: 10000000}}}
agents: {defaults: {model: mock/mock-1}}
session: {dmScope: per-account-channel-peer}
tools: {sessions: {visibility: all}, agentToAgent: {enabled: true}}
messages: {queue: {mode: followup, cap: 1000}}
channels:
  telegram: {token: "{{.Token}}", apiUrl: "{{.Telegram}}", dmPolicy: open, allowFrom: ["*"], pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}}
`
