package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"
)

const (
	replayFor = 10 * time.Minute // how long an answer is given again; what the store dedupes lasts longer
	maxReplay = 1000             // answers that are kept
)

// replays give the answer of a write again when it comes again with its key. Those that come while it is under way wait for it.
// Errors are not kept: the same key may try again.
type replays struct {
	mu    sync.Mutex
	by    map[string]*replay
	order []string // oldest first
}

type replay struct {
	asked [sha256.Size]byte
	done  chan struct{}
	body  []byte
	err   error
	at    time.Time
}

func newReplays() *replays { return &replays{by: map[string]*replay{}} }

// once does what is asked for under a key at most once.
func (s *replays) once(ctx context.Context, key string, in any, do func() ([]byte, error)) ([]byte, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	asked := sha256.Sum256(text)
	for {
		x, mine := s.begin(key, asked)
		if mine {
			s.work(key, x, do)
			return x.body, x.err
		}
		if x.asked != asked {
			return nil, Refuse(http.StatusUnprocessableEntity, "this idempotency key was used for another request: use a new key for each request")
		}
		select {
		case <-x.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if x.err == nil {
			return x.body, nil
		}
	}
}

// begin gives what a key stands for; mine says that the caller is to do it.
func (s *replays) begin(key string, asked [sha256.Size]byte) (x *replay, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget()
	if x := s.by[key]; x != nil {
		return x, false
	}
	x = &replay{asked: asked, done: make(chan struct{})}
	s.by[key] = x
	return x, true
}

// work does it; also a panic ends it.
func (s *replays) work(key string, x *replay, do func() ([]byte, error)) {
	x.err = errBroken
	defer s.end(key, x)
	x.body, x.err = do()
}

var errBroken = errors.New("the request broke off")

func (s *replays) end(key string, x *replay) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x.at = time.Now()
	if x.err != nil {
		delete(s.by, key)
	} else {
		s.order = append(s.order, key)
	}
	close(x.done)
}

// forget lets go of answers that are old or too many. s.mu is held.
func (s *replays) forget() {
	for len(s.order) > 0 {
		if x := s.by[s.order[0]]; len(s.order) <= maxReplay && time.Since(x.at) < replayFor {
			return
		}
		delete(s.by, s.order[0])
		s.order = s.order[1:]
	}
}
