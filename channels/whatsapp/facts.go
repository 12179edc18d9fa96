package whatsapp

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	_ "image/png" // a format of pictures that are sent
	"io"

	"google.golang.org/protobuf/proto"

	"parley/channels"
)

// What the apps show of a file before they fetch it is in its message: its sender has to look.

const (
	voiceType     = "audio/ogg; codecs=opus"
	thumbnailSide = 72       // pixels, as the apps make them
	mostPixels    = 16 << 20 // of a picture that a thumbnail is made of
	webpHead      = 30
)

// facts are what a message says of its file; what is not known is nil.
type facts struct {
	width, height, seconds *uint32
	waveform, thumbnail    []byte
	voice, animated        bool
}

// look reads what there is to say of a file. One that cannot be read so is sent without.
func look(kind channels.MediaKind, f channels.File) (is facts) {
	r, err := f.Open()
	if err != nil {
		return is
	}
	defer func() { _ = r.Close() }()
	switch kind {
	case channels.Image:
		is.picture(r)
	case channels.Video:
		if w, h, s, err := channels.ReadVideo(r); err == nil {
			is.size(w, h)
			is.seconds = count(s)
		}
	case channels.Audio:
		if s, waveform, err := channels.ReadVoice(io.LimitReader(r, showLimit)); err == nil {
			is.voice, is.seconds, is.waveform = true, count(s), waveform
		}
	case channels.Sticker:
		head := make([]byte, webpHead)
		if _, err := io.ReadFull(r, head); err == nil {
			var w, h int
			w, h, is.animated, _ = channels.ReadWebP(head)
			is.size(w, h)
		}
	case channels.Document:
	}
	return is
}

func count(n int) *uint32 {
	if n <= 0 {
		return nil
	}
	return proto.Uint32(uint32(min(n, 1<<31))) //nolint:gosec // bounded by min
}

func (is *facts) size(w, h int) { is.width, is.height = count(w), count(h) }

// picture reads the size of a picture, and makes a small one of it.
func (is *facts) picture(r io.Reader) {
	var head bytes.Buffer
	size, _, err := image.DecodeConfig(io.TeeReader(r, &head))
	if err != nil {
		return
	}
	is.size(size.Width, size.Height)
	if size.Width <= 0 || size.Height <= 0 || size.Width > mostPixels/size.Height {
		return
	}
	whole, _, err := image.Decode(io.MultiReader(&head, r))
	if err != nil {
		return
	}
	var b bytes.Buffer
	if jpeg.Encode(&b, shrink(whole), &jpeg.Options{Quality: 60}) == nil {
		is.thumbnail = b.Bytes()
	}
}

// shrink makes a picture no larger than a thumbnail, on white where one can look through it. Each of its pixels is the mean of a few.
func shrink(from image.Image) image.Image {
	b := from.Bounds()
	w, h := b.Dx(), b.Dy()
	if larger := max(w, h); larger > thumbnailSide {
		w, h = max(w*thumbnailSide/larger, 1), max(h*thumbnailSide/larger, 1)
	}
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			to.Set(x, y, mean(from, image.Rect(b.Min.X+x*b.Dx()/w, b.Min.Y+y*b.Dy()/h, b.Min.X+(x+1)*b.Dx()/w, b.Min.Y+(y+1)*b.Dy()/h)))
		}
	}
	return to
}

func mean(from image.Image, of image.Rectangle) color.Color {
	const looks = 4 // in each direction
	var r, g, b, n uint32
	for y := of.Min.Y; y < max(of.Max.Y, of.Min.Y+1); y += max(of.Dy()/looks, 1) {
		for x := of.Min.X; x < max(of.Max.X, of.Min.X+1); x += max(of.Dx()/looks, 1) {
			pr, pg, pb, pa := from.At(x, y).RGBA()
			white := 0xffff - pa
			r, g, b, n = r+pr+white, g+pg+white, b+pb+white, n+1
		}
	}
	return color.RGBA64{R: uint16(r / n), G: uint16(g / n), B: uint16(b / n), A: 0xffff} //nolint:gosec // a mean of 16 bits
}
