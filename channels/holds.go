package channels

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	heldAcross = time.Second // a hold lasts so long at least that is written down: what is shorter is over when the next process has started
	mostHolds  = 1 << 20     // bytes of the file: some ten thousand chats
)

// Holds remember until when platforms want no call about something: a chat, a route, the whole account. They are kept in a file as
// well, so that the next process does not call before its time; it is read when they are first asked. A file that cannot be read or
// written is said in the log and costs what it was there for, nothing else: the platform says it again. An account has one, however
// often its channel is replaced.
type Holds struct {
	path   string // empty = they are forgotten with the process
	log    *slog.Logger
	loaded sync.Once
	saving sync.Mutex // one writes the file at a time; mu is not held for it

	mu    sync.Mutex
	until map[string]time.Time
	dirty bool // there is something that the file does not say
}

// hold is one of the file. One from the future was written by another clock, and does not count.
type hold struct {
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
}

// NewHolds makes the holds of an account whose adapter keeps its files in dir, which need not be there yet; empty = in memory only.
func NewHolds(dir string, log *slog.Logger) *Holds {
	h := &Holds{log: log, until: make(map[string]time.Time)}
	if dir != "" {
		h.path = filepath.Join(dir, "holds.json")
	}
	return h
}

// BotHolds are those of one bot at one server: an account that becomes another bot starts without.
type BotHolds struct {
	all *Holds
	bot string
}

// Of gives the holds of a bot, by what its token begins with, which stays when the rest is renewed. Nil holds are in memory only.
func (h *Holds) Of(server, bot string) *BotHolds {
	if h == nil {
		h = NewHolds("", nil)
	}
	sum := sha256.Sum256([]byte(server + "\n" + bot))
	return &BotHolds{all: h, bot: hex.EncodeToString(sum[:8]) + " "}
}

// Left is how long the platform wants no call about key any more; 0 = it may be made.
func (b *BotHolds) Left(key string) time.Duration {
	h := b.all
	h.loaded.Do(h.load)
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(0, time.Until(h.until[b.bot+key]))
}

// Set notes that the platform asked to wait for so long with each of the keys, which are written to disk: none may hold a secret. Of two
// for the same key the later end counts.
func (b *BotHolds) Set(wait time.Duration, keys ...string) {
	if wait <= 0 {
		return
	}
	h := b.all
	h.loaded.Do(h.load)
	if h.set(wait, b.bot, keys) {
		h.save()
	}
}

// set reports whether anything is to be written down.
func (h *Holds) set(wait time.Duration, bot string, keys []string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(h.until, func(_ string, t time.Time) bool { return !t.After(now) })
	for _, key := range keys {
		if until := now.Add(wait); until.After(h.until[bot+key]) {
			h.until[bot+key] = until
			h.dirty = h.dirty || wait >= heldAcross && h.path != ""
		}
	}
	return h.dirty
}

// load reads what the process before has left.
func (h *Holds) load() {
	if h.path == "" {
		return
	}
	left, err := readHolds(h.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		h.log.Warn("cannot read stored retry times", "hint", "parley calls the platform at once, which may rate-limit parley again", "file", h.path, "err", err)
	}
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, x := range left {
		if wait := min(x.Until.Sub(now), maxAsked-now.Sub(x.Since)); wait > 0 && !x.Since.After(now) {
			h.until[key] = now.Add(wait)
		}
	}
}

func readHolds(path string) (left map[string]hold, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > mostHolds {
		return nil, fmt.Errorf("not a regular file of at most %d bytes", mostHolds)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	err = json.Unmarshal(text, &left)
	return left, err
}

// save replaces the file. It is not synced: after a power cut the platform says it again.
func (h *Holds) save() {
	h.saving.Lock()
	defer h.saving.Unlock()
	text, err := h.text()
	if text == nil && err == nil {
		return // somebody else wrote it down as well
	}
	if err == nil {
		err = os.MkdirAll(filepath.Dir(h.path), 0o700)
	}
	if err == nil {
		err = os.WriteFile(h.path+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(h.path+".new", h.path)
	}
	if err != nil {
		h.log.Warn("cannot store retry times for the next start", "file", h.path, "err", err)
		_ = os.Remove(h.path + ".new") // it may not be there
		h.mu.Lock()
		defer h.mu.Unlock()
		h.dirty = true // the next one is written down with this one
	}
}

// text is what the file is to say, by the clock as it is set now; nil when it says it.
func (h *Holds) text() ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.dirty {
		return nil, nil
	}
	h.dirty = false
	now, kept := time.Now(), make(map[string]hold, len(h.until))
	for key, t := range h.until {
		kept[key] = hold{Since: now.Round(0), Until: now.Round(0).Add(t.Sub(now))}
	}
	return json.Marshal(kept)
}
