package whatsapp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waE2E"
	"google.golang.org/protobuf/proto"

	"parley/channels"
)

// uploadFiles are the names of the encrypted copies.
const uploadFiles = "upload-*"

// showLimit is up to where the apps play audio and video in the chat; what is larger goes as a document.
const showLimit = 16 << 20

// stickerLimit is what a moving sticker may have: https://github.com/WhatsApp/stickers (500 KB; one that does not move 100 KB, which
// only the apps' own makers keep to).
const stickerLimit = 500 << 10

// file uploads a file and makes its message.
func (o *outbox) file(ctx context.Context, out channels.Outbound) (*sentFile, error) {
	if len(out.Files) > 1 {
		return nil, failure(channels.Rejected, "WhatsApp accepts one file in a message, not %d", len(out.Files))
	}
	f := out.Files[0]
	if f.Size > fileLimit {
		return nil, failure(channels.Rejected, "%s has %d bytes, more than the limit of %d", f.Name, f.Size, fileLimit)
	}
	kind := shownAs(f, out.Text)
	ctx, cancel := o.within(ctx, uploadPatience)
	defer cancel()
	up, err := o.upload(ctx, f, mediaTypes[mediaClass(kind)])
	left := ""
	if err != nil && kind != channels.Document && channels.Classify(err).Class == channels.Rejected {
		left, kind = "showing "+f.Name+" as "+shownKinds[kind], channels.Document
		up, err = o.upload(ctx, f, mediaTypes[mediaClass(kind)])
	}
	if err != nil {
		return nil, err
	}
	o.c.looking.Lock() // one picture at a time: each takes memory
	defer o.c.looking.Unlock()
	return &sentFile{left: left, kind: kind, name: f.Name, mime: f.MIME, up: up, facts: look(kind, f)}, nil
}

// shownKinds are kinds of messages in words.
var shownKinds = map[channels.MediaKind]string{channels.Image: "a picture", channels.Video: "a video", channels.Audio: "a recording", channels.Sticker: "a sticker"}

// shownAs gives the kind of message that can carry a file: only pictures, videos and documents have a caption.
func shownAs(f channels.File, caption string) channels.MediaKind {
	switch f.Kind {
	case channels.Image:
		if strings.HasPrefix(f.MIME, "image/jpeg") || strings.HasPrefix(f.MIME, "image/png") {
			return channels.Image
		}
	case channels.Video:
		if f.Size <= showLimit {
			return channels.Video
		}
	case channels.Audio:
		if f.Size <= showLimit && caption == "" {
			return channels.Audio
		}
	case channels.Sticker:
		if f.MIME == "image/webp" && caption == "" && f.Size <= stickerLimit {
			return channels.Sticker
		}
	case channels.Document:
	}
	return channels.Document
}

func mediaClass(kind channels.MediaKind) string {
	if kind == channels.Sticker {
		return "image"
	}
	return string(kind)
}

// refusedUpload is the library's error about an upload that the media server does not take, whenever it is tried. The other statuses are
// about the login (401, 403), the server that was chosen (404) and time (408, 409, 425, 429).
var refusedUpload = regexp.MustCompile(`status code 4(?:0[0256]|1\d|2[1-46-8])\b`)

// upload encrypts a file into a temporary one beside the keys and gives that to WhatsApp's media server.
func (o *outbox) upload(ctx context.Context, f channels.File, kind whatsmeow.MediaType) (whatsmeow.UploadResponse, error) {
	var none whatsmeow.UploadResponse
	in, err := f.Open()
	if err != nil {
		return none, failure(channels.Rejected, "read %s: %w", f.Name, err)
	}
	defer func() { _ = in.Close() }()
	temp, err := os.CreateTemp(filepath.Dir(o.c.keys), uploadFiles)
	if err != nil {
		return none, failure(channels.Transient, "create a temporary copy of %s: %w", f.Name, err)
	}
	defer func() { _, _ = temp.Close(), os.Remove(temp.Name()) }()
	up, err := o.cli.UploadReader(ctx, io.LimitReader(in, fileLimit+1), temp, kind)
	switch {
	case err != nil && strings.Contains(err.Error(), "status code 413"):
		return none, failure(channels.Rejected, "WhatsApp refused %s: the file is too large", f.Name)
	case err != nil && refusedUpload.MatchString(err.Error()):
		return none, failure(channels.Rejected, "WhatsApp refused %s: %w", f.Name, reason(err))
	case err != nil:
		return none, failure(channels.Transient, "upload %s: %w", f.Name, reason(err))
	case up.FileLength > fileLimit:
		return none, failure(channels.Rejected, "%s is larger than the limit of %d bytes", f.Name, fileLimit)
	}
	return up, nil
}

// sentFile is a file on WhatsApp's media server.
type sentFile struct {
	left       string // that it is not shown as the kind of file that it is, in words
	kind       channels.MediaKind
	name, mime string
	up         whatsmeow.UploadResponse
	facts      facts
}

// message makes the message that tells people of the file.
func (f *sentFile) message(caption string, c *waE2E.ContextInfo) *waE2E.Message {
	var text *string
	if caption != "" {
		text = proto.String(caption)
	}
	mime, up, is := proto.String(f.mime), f.up, f.facts
	switch f.kind {
	case channels.Image:
		return &waE2E.Message{ImageMessage: &waE2E.ImageMessage{Caption: text, Mimetype: mime, URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey,
			FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength, ContextInfo: c,
			Width: is.width, Height: is.height, JPEGThumbnail: is.thumbnail}}
	case channels.Video:
		return &waE2E.Message{VideoMessage: &waE2E.VideoMessage{Caption: text, Mimetype: mime, URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey,
			FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength, ContextInfo: c,
			Width: is.width, Height: is.height, Seconds: is.seconds}}
	case channels.Audio:
		if is.voice {
			mime = proto.String(voiceType)
		}
		return &waE2E.Message{AudioMessage: &waE2E.AudioMessage{Mimetype: mime, PTT: &is.voice, URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey,
			FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength, ContextInfo: c,
			Seconds: is.seconds, Waveform: is.waveform}}
	case channels.Sticker:
		return &waE2E.Message{StickerMessage: &waE2E.StickerMessage{Mimetype: mime, URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey,
			FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256, FileLength: &up.FileLength, ContextInfo: c,
			Width: is.width, Height: is.height, IsAnimated: &is.animated}}
	case channels.Document:
	}
	return &waE2E.Message{DocumentMessage: &waE2E.DocumentMessage{Caption: text, Mimetype: mime, FileName: proto.String(f.name), Title: proto.String(f.name),
		URL: &up.URL, DirectPath: &up.DirectPath, MediaKey: up.MediaKey, FileEncSHA256: up.FileEncSHA256, FileSHA256: up.FileSHA256,
		FileLength: &up.FileLength, ContextInfo: c, JPEGThumbnail: is.thumbnail}}
}

// Fetch implements channels.Fetcher. The key of a file is in its Ref; the servers keep the file for some weeks.
func (c *Channel) Fetch(ctx context.Context, m channels.Media, limit int64) ([]byte, error) {
	ref, kind, err := parseRef(m.Ref)
	if err != nil {
		return nil, failure(channels.Rejected, "%w", err)
	}
	if size := max(m.Size, int64(min(ref.Size, 1<<62))); size > limit { //nolint:gosec // bounded by min
		return nil, failure(channels.Rejected, "the file has %d bytes, more than the limit of %d", size, limit)
	}
	l := c.live.Load()
	if l == nil {
		return nil, c.unavailable()
	}
	ctx, cancel := l.out.within(ctx, uploadPatience)
	defer cancel()
	const padding = 32 // of the cipher, and its checksum
	data, err := l.cli.DownloadMediaWithPath(context.WithValue(ctx, limitKey{}, limit+padding), ref.Path, ref.Enc, ref.Sum, ref.Key, kind, "", false)
	switch {
	case err == nil && int64(len(data)) <= limit:
		return data, nil
	case err == nil, errors.Is(err, errTooLarge):
		return nil, failure(channels.Rejected, "the file is larger than the limit of %d bytes", limit)
	case errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith403), errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith404), errors.Is(err, whatsmeow.ErrMediaDownloadFailedWith410):
		return nil, failure(channels.Rejected, "WhatsApp's servers no longer have the file: ask the sender to send it again")
	case errors.Is(err, whatsmeow.ErrInvalidMediaHMAC), errors.Is(err, whatsmeow.ErrInvalidMediaEncSHA256), errors.Is(err, whatsmeow.ErrInvalidMediaSHA256), errors.Is(err, whatsmeow.ErrTooShortFile):
		return nil, failure(channels.Rejected, "the file is damaged: %w", err)
	}
	return nil, failure(channels.Transient, "read file: %w", hideURL(err))
}

type limitKey struct{}

var errTooLarge = errors.New("too large")

// bounded is a transport whose answers end with an error beyond the limit that the request's context carries: the library reads a
// file as a whole, whatever its message said about the size.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if limit, ok := req.Context().Value(limitKey{}).(int64); ok && err == nil {
		resp.Body = &boundedBody{ReadCloser: resp.Body, left: limit}
	}
	return resp, err
}

type boundedBody struct {
	io.ReadCloser
	left int64
}

func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}

// mediaClient is a copy of a client that bounds what it reads.
func mediaClient(client *http.Client) *http.Client {
	own := *client
	if own.Transport == nil {
		own.Transport = http.DefaultTransport
	}
	own.Transport = bounded{own.Transport}
	return &own
}

// CloseIdleConnections lets http.Client's method of that name through.
func (b bounded) CloseIdleConnections() {
	if c, ok := b.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// hideURL keeps the address of a file, which opens it together with its key, out of logs.
func hideURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return reason(err)
}
