package models

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/agent"
)

// How long what a server said is used before it is asked again: when it said all, when it did not know the window yet, and when it did
// not answer.
const (
	askInterval        = time.Hour
	incompleteInterval = 15 * time.Second
	failedInterval     = time.Minute
	maxAsked           = 1000 // models whose answers are kept
	maxWaiting         = 64
	askers             = 4
)

// FactCache keeps what servers said about their models. Looking something up never waits: what is missing or old is asked for by Run,
// in the background.
type FactCache struct {
	asker Asker
	log   *slog.Logger
	queue chan asked

	mu      sync.Mutex
	answers map[asked]*cached
	lists   map[string]string // by provider: a hash of its server's list of models
	conf    map[string]string // by provider: a hash of its configuration
}

// asked is what is asked for.
type asked struct {
	provider, model string
	conf            string // hash of the provider's configuration
}

// cached is what is known of a model.
type cached struct {
	p      agent.Provider
	answer Answer
	err    error
	at     time.Time
	asking bool
	asked  chan struct{} // closed when the server was asked for the first time, whatever came of it
}

func newCached(p agent.Provider) *cached { return &cached{p: p, asked: make(chan struct{})} }

// NewFactCache makes an empty cache.
func NewFactCache(a Asker, log *slog.Logger) *FactCache {
	return &FactCache{asker: a, log: log, queue: make(chan asked, maxWaiting), answers: map[asked]*cached{}, lists: map[string]string{}, conf: map[string]string{}}
}

// Configure forgets what was said by the servers of providers whose configuration is another now. Any goroutine may call it.
func (b *FactCache) Configure(conf map[string]agent.Provider) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for name, p := range conf {
		if h := configHash(p); b.conf[name] != h {
			b.conf[name] = h
			delete(b.lists, name)
		}
	}
	for k := range b.answers {
		if _, still := conf[k.provider]; !still || b.conf[k.provider] != k.conf {
			delete(b.answers, k)
		}
	}
}

// Facts gives what is known about a model now, and when its server was asked; zero = never. It does not wait.
func (b *FactCache) Facts(name string, p agent.Provider, model string) (Facts, time.Time) {
	x, at := b.look(name, p, model)
	return FactsOf(name, p, model, x), at
}

func (b *FactCache) look(name string, p agent.Provider, model string) (Answer, time.Time) {
	if !Tells(p) {
		return Answer{}, time.Time{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.key(name, p, model)
	x := b.answers[k]
	if x == nil {
		if len(b.answers) >= maxAsked {
			clear(b.answers)
		}
		x = newCached(p)
		b.answers[k] = x
	}
	if !x.asking && x.due(time.Now()) {
		select {
		case b.queue <- k:
			x.asking = true
		default: // the next one who looks asks
		}
	}
	return x.answer, x.at
}

// wait waits until the server of a model was asked for the first time, but not longer than so long. Run does the asking.
func (b *FactCache) wait(name string, p agent.Provider, model string, maxWait time.Duration) {
	if _, at := b.look(name, p, model); !at.IsZero() || !Tells(p) {
		return
	}
	b.mu.Lock()
	x := b.answers[b.key(name, p, model)]
	b.mu.Unlock()
	if x == nil { // the configuration is another by now
		return
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case <-x.asked:
	case <-timer.C:
	}
}

// key is what an answer is kept under. It needs mu.
func (b *FactCache) key(name string, p agent.Provider, model string) asked {
	hash, configured := b.conf[name]
	if !configured {
		hash = configHash(p)
	}
	return asked{name, model, hash}
}

// due reports whether the server should be asked again.
func (x *cached) due(now time.Time) bool {
	age := now.Sub(x.at)
	switch {
	case x.at.IsZero():
		return true
	case x.err != nil:
		return age >= failedInterval
	case x.answer.Program == Ollama && !x.answer.Loaded || x.answer.Program == LMStudio && x.answer.Model.Window == 0:
		return age >= incompleteInterval
	}
	return age >= askInterval
}

// Run asks servers until ctx ends.
func (b *FactCache) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for range askers {
		wg.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case k := <-b.queue:
					_ = b.ask(ctx, k) // the page has the error
				}
			}
		})
	}
	wg.Wait()
}

// AskNow asks the server of a model, waits for the answer, and gives what is known then. The error says why the server could not be
// asked; the facts are good without it.
func (b *FactCache) AskNow(ctx context.Context, name string, p agent.Provider, model string) (Facts, error) {
	var err error
	if Tells(p) {
		b.mu.Lock()
		k := b.key(name, p, model)
		if b.answers[k] == nil {
			b.answers[k] = newCached(p)
		}
		b.answers[k].asking = true
		b.mu.Unlock()
		err = b.ask(ctx, k)
	}
	f, _ := b.Facts(name, p, model)
	return f, err
}

func (b *FactCache) ask(ctx context.Context, k asked) error {
	b.mu.Lock()
	x := b.answers[k]
	b.mu.Unlock()
	if x == nil {
		return nil // the configuration is another by now
	}
	answer, err := b.asker.Ask(ctx, k.provider, x.p, k.model)
	b.mu.Lock()
	defer b.mu.Unlock()
	x.asking = false
	if err != nil && ctx.Err() != nil {
		return err // the caller had no time: that says nothing about the server
	}
	if x.at.IsZero() {
		close(x.asked)
	}
	x.at = time.Now()
	if err != nil {
		x.err = err
		b.log.Debug("cannot read model capabilities from the server", "provider", k.provider, "err", err)
		return err
	}
	x.answer, x.err = answer, nil
	if len(answer.List) > 0 && b.conf[k.provider] == k.conf { // the configuration may be another by now
		b.lists[k.provider] = listHash(answer.List)
	}
	return nil
}

// Fingerprint returns what the lessons about a provider hold for: a hash of its configuration, and one of its server's list of models,
// "" as long as the server has not been asked. SameFingerprint compares two.
func (b *FactCache) Fingerprint(provider string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.conf[provider] + ":" + b.lists[provider]
}

// SameFingerprint reports whether a lesson's fingerprint is that of now, as far as both are known. A list that is not known differs from
// none.
func SameFingerprint(a, b string) bool {
	confA, listA, _ := strings.Cut(a, ":")
	confB, listB, _ := strings.Cut(b, ":")
	return confA == confB && (listA == listB || listA == "" || listB == "")
}

// configHash is a hash of how a provider is configured: its settings and its secrets, as another key may belong to an account for which
// the endpoint refuses other things.
func configHash(p agent.Provider) string {
	text, err := json.Marshal(p) // without the secrets
	if err != nil {
		return p.API
	}
	all := []string{string(text), p.APIKey.Reveal()}
	add := func(s agent.ModelSettings) {
		for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
			all = append(all, name, s.Headers[name].Reveal())
		}
	}
	add(p.ModelSettings)
	for _, name := range slices.Sorted(maps.Keys(p.Models)) {
		add(p.Models[name].ModelSettings)
	}
	return hashOf(strings.Join(all, "\x00"))
}

func listHash(list []Served) string {
	names := make([]string, 0, len(list))
	for _, s := range list {
		names = append(names, s.Name+"\x00"+s.version)
	}
	slices.Sort(names)
	return hashOf(strings.Join(slices.Compact(names), "\n"))
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// Tells reports whether a provider's server is worth asking: those of OpenAI, Anthropic and Azure say nothing that is not in the catalogue.
func Tells(p agent.Provider) bool {
	if p.API == agent.OfflineAPI || p.BaseURL == "" {
		return false
	}
	u, err := url.Parse(p.BaseURL)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host != "api.openai.com" && !strings.HasSuffix(host, ".api.openai.com") && host != "api.anthropic.com" && !agent.AzureHost(host)
}
