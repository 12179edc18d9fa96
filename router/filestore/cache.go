package filestore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"parley/channels"
)

// The bounds of the files that came with messages.
const (
	cacheTTL      = 30 * 24 * time.Hour // how long a file stays after it was last used
	maxCacheBytes = 1 << 30             // bytes of all that are kept; the ones that were not used for longest go first
	maxFetches    = 8                   // at the same time
)

// Cache keeps the files that were fetched from platforms.
type Cache struct {
	dir      string // "" = nothing is kept
	total    int64
	log      *slog.Logger
	fetching chan struct{}
	added    atomic.Int64 // bytes since the last eviction
	odd      sizes        // of files that are not as large as was said
}

// sizes remembers how large some files are.
type sizes struct {
	mu sync.Mutex
	m  map[string]int64
}

func (x *sizes) get(path string) int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.m[path]
}

func (x *sizes) put(path string, size int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.m) >= maxMisses || x.m == nil {
		x.m = make(map[string]int64)
	}
	x.m[path] = size
}

// NewCache returns a cache in a folder; "" keeps nothing.
func NewCache(dir string, log *slog.Logger) *Cache {
	return &Cache{dir: dir, total: maxCacheBytes, log: log, fetching: make(chan struct{}, maxFetches)}
}

// tooLargeError says that a file is larger than it may be.
type tooLargeError struct{ size, most int64 }

func (e *tooLargeError) Error() string {
	if e.size == 0 {
		return fmt.Sprintf("the file has more than %d bytes", e.most)
	}
	return fmt.Sprintf("the file has %d bytes; %d are allowed", e.size, e.most)
}

// Get reads a file that came from an address: from the folder of those that were fetched before, else by the adapter that find gives. It
// returns when ctx ends, whatever the adapter does.
func (x *Cache) Get(ctx context.Context, from channels.Address, m channels.Media, most int64, find func(context.Context, channels.Address) channels.Fetcher) ([]byte, error) {
	if data, err := x.cached(from, m, most); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	by := find(ctx, from)
	if by == nil {
		return nil, fmt.Errorf("the channel %s has no files to fetch, or is not connected", from.Channel)
	}
	if m.Size > most {
		return nil, &tooLargeError{m.Size, most}
	}
	data, err := x.fetch(ctx, m, most, by)
	if err != nil {
		return nil, err
	}
	if size := int64(len(data)); m.Size > 0 && size != m.Size {
		x.odd.put(x.path(from, m), size) // the platform gave another size, and would again
	}
	if err := x.put(x.path(from, m), data); err != nil {
		x.log.Warn("file not kept in the cache", keyErr, err)
	}
	return data, nil
}

// cached reads a file that was fetched before.
func (x *Cache) cached(from channels.Address, m channels.Media, most int64) ([]byte, error) {
	path := x.path(from, m)
	if path == "" {
		return nil, fs.ErrNotExist
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if m.Size > 0 && info.Size() != m.Size && info.Size() != x.odd.get(path) {
		return nil, fs.ErrNotExist // it is fetched again
	}
	if info.Size() > most {
		return nil, &tooLargeError{info.Size(), most}
	}
	data, err := os.ReadFile(path)
	if err == nil {
		now := time.Now()
		if err := os.Chtimes(path, now, now); err != nil {
			x.log.Debug("cannot mark a file as used", keyErr, err)
		}
	}
	return data, err
}

// fetch has an adapter fetch a file. One that does not end when it should is left behind: it holds its place among those at work.
func (x *Cache) fetch(ctx context.Context, m channels.Media, most int64, by channels.Fetcher) (data []byte, err error) {
	select {
	case x.fetching <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	type fetched struct {
		data []byte
		err  error
	}
	done := make(chan fetched, 1)
	go func() {
		defer func() { <-x.fetching }()
		var f fetched
		f.err = channels.CatchPanic(channels.Ambiguous, func() (err error) {
			f.data, err = by.Fetch(ctx, m, most)
			return err
		})
		done <- f
	}()
	select {
	case f := <-done:
		if f.err == nil && int64(len(f.data)) > most {
			return nil, &tooLargeError{int64(len(f.data)), most}
		}
		return f.data, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// path is where a file is kept; "" = nowhere.
func (x *Cache) path(a channels.Address, m channels.Media) string {
	if x.dir == "" {
		return ""
	}
	return filepath.Join(x.dir, ID(a, m))
}

// ID names a file. It is a hash: nothing that a platform says becomes a path.
func ID(a channels.Address, m channels.Media) string {
	sum := sha256.Sum256([]byte(string(a.Channel) + "\x00" + string(a.Account) + "\x00" + m.Ref))
	return hex.EncodeToString(sum[:])
}

// put writes a file, and makes room when much was written.
func (x *Cache) put(path string, data []byte) error {
	if path == "" {
		return nil
	}
	if err := writeWhole(path, data); err != nil {
		return err
	}
	if x.added.Add(int64(len(data))) > x.total/8 {
		x.Evict(time.Now())
	}
	return nil
}

// Evict removes the files that were not used for a long time, and those that were not used for longest when there are too many.
func (x *Cache) Evict(now time.Time) {
	x.added.Store(0)
	evict(x.log, x.dir, now.Add(-cacheTTL), x.total*7/8)
}

// PutBytes keeps a file that no platform has, under the hash of its bytes, and says in m where it is. It is on disk when PutBytes
// returns.
func (x *Cache) PutBytes(m *channels.Media, data []byte) error {
	m.Ref, m.Size = fmt.Sprintf("sha256:%x", sha256.Sum256(data)), int64(len(data))
	return x.put(x.path(channels.Address{}, *m), data)
}

// Keeps reports whether there is a folder to keep files in.
func (x *Cache) Keeps() bool { return x.dir != "" }
