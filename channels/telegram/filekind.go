package telegram

import (
	"fmt"
	"image"
	_ "image/jpeg" // for the size of a picture
	_ "image/png"
	"io"
	"slices"
	"strconv"
	"strings"

	tgbotapi "github.com/go-telegram-bot-api/telegram-bot-api/v5"

	"parley/channels"
)

// A kind of file as the methods name it: sendPhoto takes a field photo.
const (
	photo    = "photo"
	video    = "video"
	audio    = "audio"
	voice    = "voice"
	document = "document"
	sticker  = "sticker"
)

const stickerHead = 64 // bytes of a WebP file that say how large it is and whether it moves

// shown is as what a file is sent, with what Telegram does not find out by itself; 0 = unknown.
type shown struct {
	as            string
	width, height int
	seconds       int
}

func asDocuments(n int) []shown { return slices.Repeat([]shown{{as: document}}, n) }

// describe adds what is known of a file to a call.
func (s shown) describe(params tgbotapi.Params) {
	for name, n := range map[string]int{"width": s.width, "height": s.height, "duration": s.seconds} {
		if n > 0 {
			params[name] = strconv.Itoa(n)
		}
	}
	if s.as == video {
		params["supports_streaming"] = "true"
	}
}

// fileKinds says as what each file is sent. What does not go together is sent as documents, which always does.
func fileKinds(files []channels.File, text string) ([]shown, error) {
	if len(files) > filesLimit {
		return nil, &channels.Error{Class: channels.Rejected, Err: fmt.Errorf("%d files in one message; Telegram accepts %d", len(files), filesLimit)}
	}
	kinds := make([]shown, len(files))
	pictures, sounds := 0, 0
	for i, f := range files {
		kind, err := fileKind(f)
		if err != nil {
			return nil, err
		}
		if kind.as == voice && len(files) > 1 || kind.as == sticker && (len(files) > 1 || text != "") {
			kind = shown{as: document} // no album takes a voice message or a sticker, and a sticker has no words
		}
		switch kinds[i] = kind; kind.as {
		case photo, video:
			pictures++
		case audio:
			sounds++
		}
	}
	if pictures == len(files) || sounds == len(files) || len(files) == 1 {
		return kinds, nil
	}
	return asDocuments(len(files)), nil
}

// fileKind looks at one file, and opens it, so that one that cannot be read is known before anything is sent.
func fileKind(f channels.File) (shown, error) {
	reject := func(format string, args ...any) error {
		return &channels.Error{Class: channels.Rejected, Err: fmt.Errorf("file %q: "+format, append([]any{f.Name}, args...)...)}
	}
	if f.Size > fileBytes {
		return shown{}, reject("it has %d bytes, more than Telegram's limit of %d", f.Size, fileBytes)
	}
	r, err := f.Open()
	if err != nil {
		return shown{}, reject("%w", err)
	}
	defer func() { _ = r.Close() }()
	switch mime, _, _ := strings.Cut(f.MIME, ";"); {
	case f.Kind == channels.Image && f.Size <= photoBytes:
		size, format, err := image.DecodeConfig(r) // of other formats Telegram makes something else, or nothing
		if err == nil && (format == "jpeg" || format == "png") && size.Width+size.Height <= photoSides &&
			size.Width <= photoRatio*size.Height && size.Height <= photoRatio*size.Width {
			return shown{as: photo}, nil
		}
	case f.Kind == channels.Sticker && mime == "image/webp":
		start, _ := io.ReadAll(io.LimitReader(r, stickerHead))
		if _, _, moves, ok := channels.ReadWebP(start); ok && !moves {
			return shown{as: sticker}, nil
		}
	case f.Kind == channels.Video && mime == "video/mp4":
		width, height, seconds, _ := channels.ReadVideo(r) // one without a head that can be read is shown all the same
		return shown{video, width, height, seconds}, nil
	case f.Kind == channels.Audio && slices.Contains([]string{"audio/mpeg", "audio/mp3", "audio/mp4", "audio/x-m4a", "audio/m4a"}, mime):
		return shown{as: audio}, nil
	case f.Kind == channels.Audio && (mime == "audio/ogg" || mime == "audio/opus"):
		seconds, _, err := channels.ReadVoice(r)
		if err == nil || strings.Contains(f.MIME, "opus") { // of other Ogg files Telegram makes no voice message
			return shown{as: voice, seconds: seconds}, nil
		}
	}
	return shown{as: document}, nil
}
