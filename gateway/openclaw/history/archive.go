package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"parley/channels/pattern"
)

// OpenClaw's own bounds, in bytes.
// source: openclaw/openclaw src/config/sessions/transcript-payload.ts (252fccdb), session-cold-storage-codec.ts (035e27a2)
const (
	maxFrame   = 4 << 20  // a compressed event, before and after
	maxArchive = 64 << 20 // a cold archive, before and after
)

// newDecoder returns a decoder that needs little memory and starts no goroutine.
func newDecoder(r io.Reader, limit uint64) (*zstd.Decoder, error) {
	return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(limit), zstd.WithDecoderMaxWindow(8<<20))
}

// inflate decodes a compressed event, whose text has size bytes.
func inflate(d *zstd.Decoder, frame []byte, size int64) ([]byte, error) {
	if len(frame) == 0 || len(frame) > maxFrame || size < 1 || size > maxFrame {
		return nil, fmt.Errorf("a compressed event has %d bytes and claims to be %d bytes long", len(frame), size)
	}
	out, err := d.DecodeAll(frame, make([]byte, 0, min(size, 64<<10)))
	if err == nil && (int64(len(out)) != size || !utf8.Valid(out)) {
		err = fmt.Errorf("a compressed event is %d bytes long instead of %d", len(out), size)
	}
	return out, err
}

// cold is a transcript that OpenClaw moved out of its database.
type cold struct {
	session, name, sum string
	events, bytes      int64
	blob               bool
}

// archiveName matches the names of cold archives; they are no paths.
var archiveName = pattern.New(`^[a-f0-9]{64}\.jsonl\.zst$`)

// read hands over the events of an archive.
func (c cold) read(data []byte, take func(raw []byte, broken bool)) error {
	sum := sha256.Sum256(data)
	switch {
	case int64(len(data)) != c.bytes:
		return fmt.Errorf("it has %d bytes instead of %d", len(data), c.bytes)
	case hex.EncodeToString(sum[:]) != c.sum:
		return errors.New("its SHA-256 is not the recorded one")
	}
	d, err := newDecoder(bytes.NewReader(data), maxArchive)
	if err != nil {
		return err
	}
	defer d.Close()
	events, ours := int64(0), false
	bounded := &io.LimitedReader{R: d, N: maxArchive + 1}
	err = lines(bounded, func(raw []byte, broken bool) {
		var l struct {
			Kind    string `json:"kind"`
			Session string `json:"sessionId"`
			Row     struct {
				Event string `json:"event_json"`
			} `json:"row"`
		}
		switch err := json.Unmarshal(raw, &l); {
		case broken || err != nil:
			take(nil, true)
		case l.Kind == "header":
			ours = l.Session == c.session
		case l.Kind == "event" && ours:
			events++
			take([]byte(l.Row.Event), false)
		}
	})
	switch {
	case err != nil:
		return err
	case bounded.N <= 0:
		return fmt.Errorf("it has more than %d MB", maxArchive>>20)
	case !ours:
		return errors.New("it is the archive of another session")
	case events != c.events:
		return fmt.Errorf("it has %d events instead of %d", events, c.events)
	}
	return nil
}
