package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"parley/agent/modeltest"
	"parley/channels/telegram/telegramtest"
	"parley/sessions/sqlstore"
)

// benchCmd measures the program as a whole: a child process with a Telegram adapter between a stand-in Telegram and a scripted,
// instant model, both in this process. Everything is durable (synchronous=FULL) as it always is.
type benchCmd struct {
	Starts   int    `default:"10" help:"Number of starts to measure."`
	Messages int    `default:"200" help:"Number of messages to send one after the other in one chat."`
	Burst    int    `default:"1000" help:"Number of messages of the burst."`
	Chats    int    `default:"100" help:"Number of chats of the burst."`
	Program  string `help:"Path of another parley program to measure."`
	Agents   bool   `default:"true" negatable:"" help:"Measure sub-agents: spawns, reports, and a thousand at once."`
	State    string `help:"Start with a copy of this state folder, to measure large stores."`
	asJSON
}

// benchFigures is what was measured. Times are in milliseconds, memory is in MB.
type benchFigures struct {
	Version    string      `json:"version"`
	Go         string      `json:"go"`
	System     string      `json:"system"`
	Processors int         `json:"processors"`
	Start      startFigure `json:"start"` // exec to the first poll
	BackToBack chatFigure  `json:"backToBack"`
	Burst      burstFigure `json:"burst"`
	RSS        rssFigure   `json:"rss"`

	Agents *agentsFigure `json:"agents,omitempty"`
}

type startFigure struct {
	Starts int     `json:"starts"`
	Fresh  float64 `json:"freshMs"` // on a fresh folder
	Median float64 `json:"medianMs"`
	Max    float64 `json:"maxMs"`
}

type chatFigure struct {
	Messages int     `json:"messages"`
	P50      float64 `json:"p50Ms"`
	P95      float64 `json:"p95Ms"`
	P99      float64 `json:"p99Ms"`
	CPU      float64 `json:"cpuMs"` // of a message
}

type burstFigure struct {
	Messages int     `json:"messages"`
	Chats    int     `json:"chats"`
	Took     float64 `json:"tookMs"`
	Rate     float64 `json:"perSecond"`
	CPU      float64 `json:"cpuMs"` // of a message
}

type rssFigure struct {
	Idle   memory `json:"idle"`
	Burst  memory `json:"afterBurst"`  // as it ends
	Rested memory `json:"afterRest"`   // benchRest later
	Agents memory `json:"afterAgents"` // as their work ends
}

type agentsFigure struct {
	SpawnP50  float64 `json:"spawnP50Ms"`
	SpawnP99  float64 `json:"spawnP99Ms"`
	ReportP50 float64 `json:"reportP50Ms"` // after the child's last token
	ReportP99 float64 `json:"reportP99Ms"`
	AtOnce    int     `json:"atOnce"`
	AtOnceMs  float64 `json:"atOnceMs"`
}

// bench is one measurement under way.
type bench struct {
	benchCmd
	ctx   context.Context //nolint:containedctx // the life of the command
	dir   string
	tg    *telegramtest.Server
	model *modeltest.Server
	found benchFigures
}

// say prints a line while it measures; with --json the figures are printed at the end.
func (b *bench) say(format string, a ...any) {
	if !b.JSON {
		fmt.Printf(format, a...)
	}
}

func (c benchCmd) Run(e *env) error {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	model, err := modeltest.New()
	if err != nil {
		return err
	}
	defer func() { _ = model.Close() }()
	b := &bench{benchCmd: c, ctx: e.ctx, dir: dir, tg: telegramtest.New(nil), model: model}
	defer b.tg.Close()
	if b.Program == "" {
		if b.Program, err = os.Executable(); err != nil {
			return err
		}
	}
	if c.State != "" {
		if err := os.CopyFS(filepath.Join(dir, "state"), os.DirFS(c.State)); err != nil {
			return fmt.Errorf("copy %s: %w", c.State, err)
		}
	}
	if err := b.write(); err != nil {
		return err
	}
	b.found = benchFigures{Version: version, Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.NumCPU()}
	b.say("parley %s, %s %s, %d processors\n", version, b.found.Go, b.found.System, b.found.Processors)
	for _, measure := range []func() error{b.start, b.work} {
		if err := measure(); err != nil {
			return err
		}
	}
	if c.JSON {
		writeJSON(os.Stdout, b.found)
	}
	return nil
}

func (b *bench) write() error {
	text := fmt.Sprintf(`
state: state
gateway: {listen: "127.0.0.1:0"}
log: {level: warn}
models: {providers: {mock: {api: openai, baseUrl: %s/v1, apiKey: x}}}
agents: {defaults: {model: mock/mock-1, subagents: {maxChildrenPerAgent: 100}}}
messages: {queue: {mode: followup, cap: 1000}}
channels:
  telegram: {token: %q, apiUrl: %s, dmPolicy: open, allowFrom: ["*"], pacing: {perSecond: 0, perChatPerSecond: 0, perGroupPerMinute: 0}}
`, b.model.URL(), b.tg.Token(), b.tg.URL())
	return os.WriteFile(filepath.Join(b.dir, "config.yaml"), []byte(text), 0o600)
}

// child runs the program; the func stops it softly.
func (b *bench) child() (cmd *exec.Cmd, began time.Time, stop func(), err error) {
	cmd = exec.CommandContext(b.ctx, b.Program, "--config", "config.yaml", "run")
	cmd.Dir = b.dir
	cmd.Env = append(os.Environ(), "OPENAI_API_KEY=", "ANTHROPIC_API_KEY=")
	cmd.Stderr = os.Stderr
	began = time.Now()
	if err := cmd.Start(); err != nil {
		return nil, began, nil, err
	}
	return cmd, began, func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		defer time.AfterFunc(benchSilence, func() { _ = cmd.Process.Kill() }).Stop()
		_ = cmd.Wait()
	}, nil
}

// start measures from exec to the first poll, the first start on a fresh folder apart.
func (b *bench) start() error {
	var took []time.Duration
	var n atomic.Int64
	still := spinner("starts", func() int { return int(n.Load()) }, b.Starts+1)
	defer still()
	for range b.Starts + 1 {
		n.Add(1)
		b.tg.Forget()
		_, began, stop, err := b.child()
		if err != nil {
			return err
		}
		wait, cancel := context.WithTimeout(b.ctx, benchSilence)
		err = b.tg.Wait(wait, func() bool { return len(b.tg.Calls("getUpdates")) > 0 })
		cancel()
		if err == nil {
			took = append(took, b.tg.Calls("getUpdates")[0].At.Sub(began))
		}
		stop()
		if b.ctx.Err() != nil {
			return b.ctx.Err()
		} else if err != nil {
			return fmt.Errorf("%s sent no request to Telegram within %s", b.Program, benchSilence)
		}
	}
	still()
	b.found.Start = startFigure{b.Starts, millis(took[0]), millis(median(took[1:])), millis(slices.Max(took[1:]))}
	b.say("exec to first poll      fresh folder %s; then median %s, max %s (%d starts)\n", ms(took[0]), ms(median(took[1:])), ms(slices.Max(took[1:])), b.Starts)
	return nil
}

// work measures one chat back to back, then a burst over many chats.
func (b *bench) work() error {
	cmd, _, stop, err := b.child()
	if err != nil {
		return err
	}
	defer stop()
	if err := b.ready(); err != nil {
		return err
	}
	pid := cmd.Process.Pid
	b.found.RSS.Idle = rss(pid)
	b.say("RSS idle                %s\n", b.found.RSS.Idle)
	if err := b.backToBack(pid); err != nil {
		return err
	}
	if err := b.burst(pid); err != nil {
		return err
	}
	b.found.RSS.Burst = rss(pid)
	b.say("RSS after               %s\n", b.found.RSS.Burst)
	if err := b.rest(benchRest); err != nil {
		return err
	}
	b.found.RSS.Rested = rss(pid)
	b.say("%-22s%s\n", fmt.Sprintf("RSS %s later", benchRest), b.found.RSS.Rested)
	if !b.Agents {
		return nil
	}
	if err := b.agents(); err != nil {
		return err
	}
	b.found.RSS.Agents = rss(pid)
	b.say("RSS after               %s\n", b.found.RSS.Agents)
	return nil
}

func (b *bench) ready() error {
	for began := time.Now(); ; {
		if time.Since(began) > benchSilence {
			return fmt.Errorf("%s was not ready within %s", b.Program, benchSilence)
		}
		if o, err := sqlstore.ReadOwner(filepath.Join(b.dir, "state")); err == nil && o.Address != "" {
			req, err := http.NewRequestWithContext(b.ctx, http.MethodGet, o.Address+"/readyz", nil)
			if err != nil {
				return err
			}
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_ = resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					break
				}
			}
		}
		select {
		case <-b.ctx.Done():
			return b.ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	// Give what belongs to the start (command menu, checks in the background) its time, so that idle is idle.
	return b.rest(2 * time.Second)
}

// benchSilence is how long nothing comes of a host before nothing more will.
const benchSilence = 30 * time.Second

// answered waits until n texts have been sent, as long as any come.
func (b *bench) answered(n int) ([]telegramtest.Message, error) {
	for had := b.tg.SentCount(); had < n; had = b.tg.SentCount() {
		wait, cancel := context.WithTimeout(b.ctx, benchSilence)
		err := b.tg.Wait(wait, func() bool { return b.tg.SentCount() > had })
		cancel()
		switch {
		case b.ctx.Err() != nil:
			return nil, b.ctx.Err()
		case err != nil:
			return nil, fmt.Errorf("%d of %d answers arrived, then none for %s", had, n, benchSilence)
		}
	}
	return b.tg.Sent(), nil
}

// benchRest is how long after the burst memory is looked at again: by then the host has given back what it needs no more.
const benchRest = 5 * time.Second

func (b *bench) rest(d time.Duration) error {
	select {
	case <-b.ctx.Done():
		return b.ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (b *bench) backToBack(pid int) error {
	const chat = 100
	b.tg.AddUser(telegramtest.User{ID: chat, Name: "One"})
	var took []time.Duration
	cpu := cpuTime(pid)
	first := b.tg.SentCount()
	stop := spinner("messages back to back", func() int { return b.tg.SentCount() - first }, b.Messages)
	defer stop()
	for i := range b.Messages {
		n := b.tg.SentCount()
		began := time.Now()
		b.tg.Say(chat, chat, fmt.Sprintf("message %d", i))
		if _, err := b.answered(n + 1); err != nil {
			return err
		}
		took = append(took, b.tg.Sent()[n].At.Sub(began))
	}
	cpu = cpuTime(pid) - cpu
	slices.Sort(took)
	stop()
	b.found.BackToBack = chatFigure{b.Messages, millis(quantile(took, .5)), millis(quantile(took, .95)), millis(quantile(took, .99)), millis(cpu / time.Duration(b.Messages))}
	b.say("back to back            %d messages: p50 %s, p95 %s, p99 %s; CPU %s a message\n", b.Messages,
		ms(quantile(took, .5)), ms(quantile(took, .95)), ms(quantile(took, .99)), ms(cpu/time.Duration(b.Messages)))
	return nil
}

func (b *bench) burst(pid int) error {
	for c := range b.Chats {
		b.tg.AddUser(telegramtest.User{ID: int64(1000 + c), Name: "P"})
	}
	b.tg.Forget()
	cpu := cpuTime(pid)
	began := time.Now()
	for i := range b.Burst {
		id := int64(1000 + i%b.Chats)
		b.tg.Say(id, id, fmt.Sprintf("message %06d", i))
	}
	stop := spinner("messages of the burst", b.tg.SentCount, b.Burst)
	sent, err := b.answered(b.Burst)
	stop()
	if err != nil {
		return err
	}
	took := sent[len(sent)-1].At.Sub(began)
	cpu = cpuTime(pid) - cpu
	if err := b.inOrder(); err != nil {
		return err
	}
	b.found.Burst = burstFigure{b.Burst, b.Chats, millis(took), float64(b.Burst) / took.Seconds(), millis(cpu / time.Duration(b.Burst))}
	b.say("burst                   %d messages over %d chats in %s: %.0f a second, all answered, in order; CPU %s a message\n", b.Burst, b.Chats,
		ms(took), float64(b.Burst)/took.Seconds(), ms(cpu/time.Duration(b.Burst)))
	return nil
}

// inOrder checks that every chat shows exactly its own answers, in order.
func (b *bench) inOrder() error {
	next := map[int64]int{}
	for _, m := range b.tg.Sent() {
		c := int(m.Chat) - 1000
		want := fmt.Sprintf("echo: message %06d", c+next[m.Chat]*b.Chats)
		if m.Text != want {
			return fmt.Errorf("chat %d shows %q instead of %q", m.Chat, m.Text, want)
		}
		next[m.Chat]++
	}
	return nil
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return quantile(d, .5)
}

// quantile reads from sorted values.
func quantile(d []time.Duration, q float64) time.Duration {
	return d[min(int(q*float64(len(d))), len(d)-1)]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", millis(d)) }

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
