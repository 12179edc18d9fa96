package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
)

// The numbers of a Breaker.
const (
	BreakerFailures = 5                // failed calls in a row that open it
	BreakerPause    = 30 * time.Second // how long it then lets nothing through
	maxCircuits     = 512              // models of one provider that are watched
)

// Breaker is a Model that leaves a provider at one address, or one model of it, alone for a while after it failed again and again: calls
// then fail at once, as Tripped, without a request. After the pause one call is let through, with one request; when it succeeds all are.
//
// A provider that cannot be reached (refused connections, DNS, TLS) is left alone with all its models. What else fails is the model's: of
// an aggregator's models one may be down while its siblings answer. A key or an account that is refused opens nothing: the error says what
// to do, and must stay visible.
type Breaker struct {
	model    Model
	name     string
	log      *slog.Logger
	provider *circuit

	mu     sync.Mutex
	models map[string]*circuit
}

// circuit counts the failures of a provider or of one model.
type circuit = gobreaker.TwoStepCircuitBreaker[struct{}]

var _ Model = (*Breaker)(nil)

// NewBreaker puts a breaker before a provider. log may be nil.
func NewBreaker(provider string, m Model, log *slog.Logger) *Breaker {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Breaker{model: m, name: provider, log: log, provider: newCircuit(provider), models: make(map[string]*circuit)}
}

func newCircuit(name string) *circuit {
	return gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: name, Timeout: BreakerPause,
		ReadyToTrip: func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= BreakerFailures },
		IsExcluded:  func(err error) bool { return errors.Is(err, errNoVerdict) },
	})
}

// errNoVerdict ends a call that says nothing about a circuit.
var errNoVerdict = errors.New("no verdict")

// verdicts says what the end of a call means for its provider and its model: nil = it works, errNoVerdict = nothing.
func verdicts(err error) (provider, model error) {
	e, ok := errors.AsType[*ModelError](err)
	switch {
	case !ok:
		return nil, err
	case e.Class == Unreachable:
		return err, errNoVerdict
	case e.Class == Timeout:
		return errNoVerdict, err // a model that is slow, or a provider that does not answer at all
	case e.Class == Overloaded, e.Class == Broken:
		return nil, err
	}
	return nil, nil // it speaks against the request, the key or the caller's rate
}

// State is that of the provider or of one of its models, whichever is left alone most: "closed" when calls are let through, "open" when
// none is, "half-open" when one is.
func (b *Breaker) State() string {
	worst := b.provider.State()
	for _, s := range b.states() {
		if s == gobreaker.StateOpen || worst == gobreaker.StateClosed {
			worst = s
		}
	}
	return worst.String()
}

// Down gives the models that calls are kept from at the moment, sorted; all says that it is the whole provider.
func (b *Breaker) Down() (models []string, all bool) {
	for name, s := range b.states() {
		if s != gobreaker.StateClosed {
			models = append(models, name)
		}
	}
	slices.Sort(models)
	return models, b.provider.State() != gobreaker.StateClosed
}

func (b *Breaker) states() map[string]gobreaker.State {
	b.mu.Lock()
	models := maps.Clone(b.models)
	b.mu.Unlock()
	out := make(map[string]gobreaker.State, len(models))
	for name, c := range models {
		out[name] = c.State()
	}
	return out
}

// circuitOf gives the circuit of a model. Where there is no room, one that works makes some: it only loses count.
func (b *Breaker) circuitOf(model string) *circuit {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.models[model]
	if c != nil {
		return c
	}
	for name, old := range b.models {
		if len(b.models) < maxCircuits {
			break
		}
		if old.State() == gobreaker.StateClosed {
			delete(b.models, name)
		}
	}
	c = newCircuit(b.name + "/" + model)
	if len(b.models) < maxCircuits {
		b.models[model] = c
	}
	return c
}

// Stream implements Model.
func (b *Breaker) Stream(ctx context.Context, p Prompt) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		model := b.circuitOf(p.Model)
		settleProvider, err := b.provider.Allow()
		if err != nil {
			yield(Delta{}, &ModelError{Class: Tripped, Provider: b.name, Err: err})
			return
		}
		settleModel, err := model.Allow()
		if err != nil {
			settleProvider(errNoVerdict)
			yield(Delta{}, &ModelError{Class: Tripped, Provider: b.name, Err: fmt.Errorf("model %s: %w", p.Model, err)})
			return
		}
		if cmp.Or(b.provider.State(), model.State()) != gobreaker.StateClosed {
			p.Tries = 1
		}
		ofProvider, ofModel := errNoVerdict, errNoVerdict // the caller left
		defer func() {
			b.settle(ctx, b.provider, settleProvider, ofProvider)
			b.settle(ctx, model, settleModel, ofModel)
		}()
		for d, err := range b.model.Stream(ctx, p) {
			switch {
			case err != nil && ctx.Err() == nil:
				ofProvider, ofModel = verdicts(err)
			case d.Final != nil:
				ofProvider, ofModel = nil, nil
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// settle tells a circuit how a call went.
func (b *Breaker) settle(ctx context.Context, c *circuit, done func(error), verdict error) {
	before := c.State()
	done(verdict)
	key := "model"
	if c == b.provider {
		key = "provider" // with all its models
	}
	switch after := c.State(); {
	case before == after:
	case after == gobreaker.StateOpen:
		b.log.LogAttrs(ctx, slog.LevelWarn, "model or provider paused after repeated failures",
			slog.String(key, c.Name()), slog.Duration("for", BreakerPause), slog.Any("err", verdict))
	case after == gobreaker.StateClosed:
		b.log.LogAttrs(ctx, slog.LevelInfo, "a model or its provider works again", slog.String(key, c.Name()))
	}
}
