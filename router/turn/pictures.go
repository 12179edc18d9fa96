package turn

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"parley/agent"
	"parley/channels"
	"parley/router/delivery"
	"parley/router/filestore"
	"parley/sessions"
	"parley/tools"
)

// MaxPictures bounds the pictures of a prompt that a model is shown, the newest; older ones are named only.
const MaxPictures = 8

// Pictures fetches the pictures of messages that a model is shown.
type Pictures struct {
	media   *filestore.Cache
	missing filestore.Misses
	gate    *delivery.Dispatcher
	log     *slog.Logger
}

// Keep puts pictures that came with words where those of messages are kept, before anything names them. They are called by what
// is in them: the same picture is one file.
func (p *Pictures) Keep(all [][]byte) (out []sessions.Block, err error) {
	if len(all) > MaxPictures {
		return nil, fmt.Errorf("%w: %d pictures; the maximum is %d", sessions.ErrBadRequest, len(all), MaxPictures)
	}
	for i, data := range all {
		mime, _, _ := strings.Cut(http.DetectContentType(data), ";")
		switch {
		case !filestore.IsPicture(mime):
			return nil, fmt.Errorf("%w: picture %d is %s; models accept JPEG, PNG, GIF and WebP", sessions.ErrBadRequest, i+1, mime)
		case len(data) > filestore.MaxPicture:
			return nil, fmt.Errorf("%w: picture %d has %d bytes; the maximum is %d", sessions.ErrBadRequest, i+1, len(data), filestore.MaxPicture)
		case !p.media.Keeps():
			return nil, fmt.Errorf("%w: this host has no folder for pictures", sessions.ErrBadRequest)
		}
		m := channels.Media{Kind: channels.Image, MIME: mime}
		if err := p.media.PutBytes(&m, data); err != nil {
			return nil, err
		}
		out = append(out, sessions.Block{Type: sessions.ImageBlock, ID: tools.NewFileID(), MIME: mime, Media: &m})
	}
	return out, nil
}

// Origin returns the address that a message's files came from; ok is false when it is not known. Files of tools have none: they are kept
// by what is in them.
func Origin(m *sessions.Message) (from channels.Address, ok bool) {
	switch {
	case m.Provenance != nil:
		return m.Provenance.Address, true
	case m.Role == sessions.ToolResult:
		return channels.Address{}, true
	}
	return from, false
}

// seeing is a model that is shown the pictures of a prompt: it fetches what the blocks only name.
type seeing struct {
	agent.Model
	pictures *Pictures
}

// Stream implements agent.Model.
func (s seeing) Stream(ctx context.Context, p agent.Prompt) iter.Seq2[agent.Delta, error] {
	p.Messages = s.pictures.with(ctx, p.Messages)
	return s.Model.Stream(ctx, p)
}

// with gives the messages with the bytes of their newest pictures, which are fetched side by side; a picture that cannot be had
// is a line that says so.
func (p *Pictures) with(ctx context.Context, msgs []sessions.Message) []sessions.Message {
	out, shown, most := msgs, 0, picturesShown(msgs)
	var fetching sync.WaitGroup
	ctx, cancel := context.WithTimeout(ctx, filestore.PictureTimeout)
	defer cancel()
	for i := len(msgs) - 1; i >= 0; i-- {
		m := &msgs[i]
		if !slices.ContainsFunc(m.Content, notLoaded) {
			continue
		}
		if shown == 0 {
			out = slices.Clone(msgs)
		}
		content := slices.Clone(m.Content)
		for j, b := range content {
			if !notLoaded(b) {
				continue
			}
			if shown++; shown > most {
				content[j] = sessions.Block{Type: sessions.TextBlock, Text: "[a picture that was shown earlier]"}
				continue
			}
			fetching.Go(func() { content[j] = p.shown(ctx, m, b) })
		}
		out[i].Content = content
	}
	fetching.Wait()
	return out
}

// PicturesStep is how many pictures are no longer shown at once where tools give some: a step of a turn that brings one changes what stands
// before it in the prompt, which costs the provider's prompt cache, only each so many times.
const PicturesStep = 4

// picturesShown returns how many of the newest pictures of a prompt are shown.
func picturesShown(msgs []sessions.Message) int {
	n, ofTools := 0, false
	for _, m := range msgs {
		for _, b := range m.Content {
			if notLoaded(b) {
				n++
				ofTools = ofTools || m.Role == sessions.ToolResult
			}
		}
	}
	hidden := n - MaxPictures
	if hidden <= 0 || !ofTools {
		return MaxPictures
	}
	hidden = (hidden + PicturesStep - 1) / PicturesStep * PicturesStep
	return max(n-hidden, 1)
}

// shown returns a picture's block with its bytes, or a line in its place.
func (p *Pictures) shown(ctx context.Context, m *sessions.Message, b sessions.Block) sessions.Block {
	data, mime, err := p.get(ctx, m, *b.Media)
	if err != nil {
		p.log.Warn("picture not shown to the model", keyMessage, m.ID, keyErr, err)
		return sessions.Block{Type: sessions.TextBlock, Text: "[a picture that the host could not load]"}
	}
	b.Data, b.MIME = base64.StdEncoding.EncodeToString(data), mime
	return b
}

func notLoaded(b sessions.Block) bool {
	return b.Type == sessions.ImageBlock && b.Data == "" && b.Media != nil
}

// get gives a picture that a model can look at.
func (p *Pictures) get(ctx context.Context, with *sessions.Message, m channels.Media) (data []byte, mime string, err error) {
	from, ok := Origin(with)
	if !ok {
		return nil, "", errors.New("its origin is unknown")
	}
	id := filestore.ID(from, m)
	if err = p.missing.Get(id); err != nil {
		return nil, "", err
	}
	if data, err = p.media.Get(ctx, from, m, filestore.MaxPicture, p.gate.Fetcher); err == nil {
		if mime, _, _ = strings.Cut(http.DetectContentType(data), ";"); !filestore.IsPicture(mime) {
			err = fmt.Errorf("the type is %s, which models do not accept", mime)
		}
	}
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) { // the turn continues without it
		p.missing.Put(id, err)
	}
	return data, mime, err
}
