package router

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/sessions"
)

// The bounds of pictures that a model looks at.
const (
	picturesShown = 8                   // of a prompt, the newest; older ones are named only
	pictureMost   = 5 << 20             // bytes of one; the providers take no more
	pictureWait   = 20 * time.Second    // for all of a prompt
	pictureAgain  = 5 * time.Minute     // until one that could not be had is tried again
	missesMost    = 256                 // that are remembered
	pictureKept   = 30 * 24 * time.Hour // how long the file of one stays after it was last shown
)

// pictureBlocks gives the pictures of a message as blocks that say where they are; they are fetched when a model is to see them.
func pictureBlocks(in channels.Inbound) (out []sessions.Block) {
	for _, m := range in.Media {
		if m.Ref != "" && (m.Kind == channels.Image || m.Kind == channels.Document && picture(m.MIME)) {
			out = append(out, sessions.Block{Type: sessions.ImageBlock, MIME: m.MIME, Media: &m})
		}
	}
	return out
}

// picture reports whether models can look at files of this type.
func picture(mime string) bool {
	return slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, mime)
}

// seeing is a model that is shown the pictures of a prompt: it fetches what the blocks only name.
type seeing struct {
	agent.Model
	r *Router
}

// Stream implements agent.Model.
func (s seeing) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	p.Messages = s.r.withPictures(ctx, p.Messages)
	return s.Model.Stream(ctx, p)
}

// withPictures gives the messages with the bytes of their newest pictures, which are fetched side by side; a picture that cannot be had
// is a line that says so.
func (r *Router) withPictures(ctx context.Context, msgs []sessions.Message) []sessions.Message {
	out, shown := msgs, 0
	var fetching sync.WaitGroup
	ctx, cancel := context.WithTimeout(ctx, pictureWait)
	defer cancel()
	for i := len(msgs) - 1; i >= 0; i-- {
		m := &msgs[i]
		if !slices.ContainsFunc(m.Content, unfetched) {
			continue
		}
		if shown == 0 {
			out = slices.Clone(msgs)
		}
		content := slices.Clone(m.Content)
		for j, b := range content {
			if !unfetched(b) {
				continue
			}
			if shown++; shown > picturesShown {
				content[j] = sessions.Block{Type: sessions.TextBlock, Text: "[a picture that was shown earlier]"}
				continue
			}
			fetching.Go(func() { content[j] = r.shownPicture(ctx, m, b) })
		}
		out[i].Content = content
	}
	fetching.Wait()
	return out
}

// shownPicture gives a picture's block with its bytes, or the line that stands for it.
func (r *Router) shownPicture(ctx context.Context, m *sessions.Message, b sessions.Block) sessions.Block {
	data, mime, err := r.picture(ctx, m.Provenance, *b.Media)
	if err != nil {
		r.log.Warn("a picture is not shown to the model", keyMessage, m.ID, keyErr, err)
		return sessions.Block{Type: sessions.TextBlock, Text: "[a picture that could not be loaded]"}
	}
	b.Data, b.MIME = base64.StdEncoding.EncodeToString(data), mime
	return b
}

func unfetched(b sessions.Block) bool {
	return b.Type == sessions.ImageBlock && b.Data == "" && b.Media != nil
}

// picture reads a picture from the folder of those that were fetched before, else from its platform.
func (r *Router) picture(ctx context.Context, from *sessions.Provenance, m channels.Media) (data []byte, mime string, err error) {
	defer r.fence("picture", &err)
	if from == nil {
		return nil, "", errors.New("it is not known where it came from")
	}
	path := r.picturePath(from.Address, m)
	if path != "" {
		if data, err = os.ReadFile(path); err == nil {
			now := time.Now()
			if err := os.Chtimes(path, now, now); err != nil {
				r.log.Debug("cannot mark a picture as used", keyErr, err)
			}
			return data, http.DetectContentType(data), nil
		}
	}
	can := r.gate.caps(from.Address)
	if can.Fetcher == nil {
		return nil, "", fmt.Errorf("the channel %s gives no files, or is not connected", from.Address.Channel)
	}
	id := pictureID(from.Address, m)
	if err = r.missing.get(id); err != nil {
		return nil, "", err
	}
	if data, err = can.Fetcher.Fetch(ctx, m, pictureMost); err == nil {
		if mime, _, _ = strings.Cut(http.DetectContentType(data), ";"); !picture(mime) {
			err = fmt.Errorf("it is %s, which no model can look at", mime)
		}
	}
	if err != nil {
		if !errors.Is(ctx.Err(), context.Canceled) { // the turn goes on without it
			r.missing.put(id, err)
		}
		return nil, "", err
	}
	if path != "" {
		if err := keepPicture(path, data); err != nil {
			r.log.Warn("a picture is not kept", keyErr, err)
		}
	}
	return data, mime, nil
}

// picturePath is where a picture is kept; "" = nowhere.
func (r *Router) picturePath(a channels.Address, m channels.Media) string {
	if r.deps.Pictures == "" {
		return ""
	}
	return filepath.Join(r.deps.Pictures, pictureID(a, m))
}

// pictureID names a picture. It is a hash: nothing that a platform says becomes a path.
func pictureID(a channels.Address, m channels.Media) string {
	sum := sha256.Sum256([]byte(string(a.Channel) + "\x00" + string(a.Account) + "\x00" + m.Ref))
	return hex.EncodeToString(sum[:])
}

// misses are the pictures that could not be had lately: the calls of a turn need not wait for each of them again.
type misses struct {
	mu sync.Mutex
	m  map[string]miss
}

type miss struct {
	err   error
	until time.Time
}

// get gives the error of a picture that is not to be fetched again yet.
func (x *misses) get(id string) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if was := x.m[id]; time.Now().Before(was.until) {
		return was.err
	}
	return nil
}

func (x *misses) put(id string, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.m) >= missesMost || x.m == nil {
		x.m = make(map[string]miss)
	}
	x.m[id] = miss{err, time.Now().Add(pictureAgain)}
}

// keepPicture writes a file as a whole or not at all.
func keepPicture(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "new-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone when it was renamed
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// forgetPictures removes the pictures that no model was shown for a long time.
func (r *Router) forgetPictures(now time.Time) {
	if r.deps.Pictures == "" {
		return
	}
	entries, err := os.ReadDir(r.deps.Pictures)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.log.Warn("cannot look through the pictures", keyErr, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && now.Sub(info.ModTime()) > pictureKept {
			err = os.Remove(filepath.Join(r.deps.Pictures, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.log.Warn("cannot remove an old picture", keyErr, err)
		}
	}
}
