package channels_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"parley/channels"
	"parley/channels/channeltest"
)

// source: RFC 7845 (granule position, pre-skip, end trimming)
func TestVoice(t *testing.T) {
	t.Parallel()
	file := channeltest.Opus(14)
	seconds, wave, err := channels.ReadVoice(iotest.OneByteReader(bytes.NewReader(file)))
	if err != nil || seconds != 14 || len(wave) != channels.Waveform || wave[0] > 20 || wave[channels.Waveform-1] != 100 {
		t.Errorf("%d s, %v, %v", seconds, wave, err)
	}
	// A stream that was cut out of a longer one begins with a granule position of its own; one without positions is counted by its packets.
	for name, shift := range map[string]int64{"from the middle": 1 << 40, "no positions": -1} {
		b := bytes.Clone(file)
		for at := 0; at+27 < len(b); {
			table := b[at+27 : at+27+int(b[at+26])]
			if g := binary.LittleEndian.Uint64(b[at+6:]); g > 0 {
				if shift < 0 {
					g = 1<<64 - 1
				} else {
					g += uint64(shift)
				}
				binary.LittleEndian.PutUint64(b[at+6:], g)
			}
			at += 27 + len(table)
			for _, n := range table {
				at += int(n)
			}
		}
		if seconds, _, err = channels.ReadVoice(bytes.NewReader(b)); err != nil || seconds != 14 {
			t.Errorf("%s: %d s, %v", name, seconds, err)
		}
	}
	if seconds, _, err = channels.ReadVoice(bytes.NewReader(file[:len(file)/2])); err != nil || seconds < 6 || seconds > 11 {
		t.Errorf("half a file: %d s, %v", seconds, err)
	}
	for name, b := range map[string][]byte{"empty": nil, "Vorbis": bytes.Replace(file, []byte("OpusHead"), []byte("\x01vorbis\x00"), 1), "no Ogg": bytes.Repeat([]byte("OggS"), 900)} {
		if _, _, err := channels.ReadVoice(bytes.NewReader(b)); !errors.Is(err, channels.ErrNotOpus) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := channels.ReadVoice(io.MultiReader(bytes.NewReader(file[:100]), iotest.ErrReader(io.ErrClosedPipe))); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a disk that fails: %v", err)
	}
}

// source: ISO/IEC 14496-12 (mvhd, tkhd)
func TestVideo(t *testing.T) {
	t.Parallel()
	file := channeltest.MP4(1280, 720, 9, 5000)
	for name, r := range map[string]io.Reader{"a file": bytes.NewReader(file), "a stream": iotest.OneByteReader(bytes.NewReader(file))} {
		if w, h, s, err := channels.ReadVideo(r); err != nil || w != 1280 || h != 720 || s != 9 {
			t.Errorf("%s: %d x %d, %d s, %v", name, w, h, s, err)
		}
	}
	turned := bytes.Clone(file)
	at := bytes.LastIndex(turned, []byte("tkhd")) + 4 + 40
	copy(turned[at:], []byte{0, 0, 0, 0, 0, 1, 0, 0})
	if w, h, _, err := channels.ReadVideo(bytes.NewReader(turned)); err != nil || w != 720 || h != 1280 {
		t.Errorf("turned: %d x %d, %v", w, h, err)
	}
	for name, b := range map[string][]byte{"empty": nil, "no box": []byte("not a film at all"), "no head": file[:5000], "torn": file[:len(file)-10]} {
		if _, _, _, err := channels.ReadVideo(bytes.NewReader(b)); !errors.Is(err, channels.ErrNotMP4) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// source: RFC 9649
func TestWebP(t *testing.T) {
	t.Parallel()
	if w, h, moves, ok := channels.ReadWebP(channeltest.WebP(512, 300, true)); !ok || w != 512 || h != 300 || !moves {
		t.Errorf("%d x %d, %v, %v", w, h, moves, ok)
	}
	lossy := append([]byte("RIFF\x00\x10\x00\x00WEBPVP8 \x0a\x00\x00\x00"), 0, 0, 0, 0x9d, 0x01, 0x2a, 0x00, 0x02, 0x2c, 0x01)
	lossless := append([]byte("RIFF\x00\x10\x00\x00WEBPVP8L\x0a\x00\x00\x00"), 0x2f, 0xff, 0xc1, 0x4a, 0x00, 0, 0, 0, 0, 0)
	for name, b := range map[string][]byte{"lossy": lossy, "lossless": lossless} {
		if w, h, moves, ok := channels.ReadWebP(b); !ok || w != 512 || h != 300 || moves {
			t.Errorf("%s: %d x %d, %v, %v", name, w, h, moves, ok)
		}
	}
	if _, _, _, ok := channels.ReadWebP([]byte("RIFF")); ok {
		t.Error("half a head")
	}
}

func FuzzMedia(f *testing.F) {
	f.Add(channeltest.Opus(2))
	f.Add(channeltest.MP4(640, 480, 3, 10))
	f.Add(channeltest.WebP(10, 10, false))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, wave, err := channels.ReadVoice(bytes.NewReader(b)); err == nil && (s < 0 || s > len(b) || wave != nil && len(wave) != channels.Waveform) {
			t.Errorf("%d s of %d bytes", s, len(b))
		}
		if w, h, s, err := channels.ReadVideo(bytes.NewReader(b)); err == nil && (w < 0 || h < 0 || s < 0) {
			t.Errorf("%d x %d, %d s", w, h, s)
		}
		if w, h, _, ok := channels.ReadWebP(b); ok && (w < 0 || h < 0) {
			t.Errorf("%d x %d", w, h)
		}
	})
}
