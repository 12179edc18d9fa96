package channels

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// ErrNotMP4 says that a file is no MP4, or has no head that can be read.
var ErrNotMP4 = errors.New("not an MP4 file")

const (
	mostHead  = 8 << 20 // bytes of the head of a film; it grows with its length
	mostSide  = 1 << 16 // pixels
	mostBoxes = 10_000
)

// ReadVideo reads how large the picture of an MP4 file is, as it is shown, and how many seconds it plays, rounded up. The head may be at the
// end of the file, so r is read as far as it takes. The error is ErrNotMP4, or that of r. Format: ISO/IEC 14496-12.
func ReadVideo(r io.Reader) (width, height, seconds int, err error) {
	for range mostBoxes {
		kind, size, err := boxHead(r)
		switch {
		case err != nil:
			return 0, 0, 0, notMP4(err)
		case kind == "moov":
			if size < 0 || size > mostHead {
				return 0, 0, 0, ErrNotMP4
			}
			head := make([]byte, size)
			if _, err := io.ReadFull(r, head); err != nil {
				return 0, 0, 0, notMP4(err)
			}
			var m movie
			m.read(head, 0)
			return m.width, m.height, m.seconds, nil
		case size < 0: // up to the end
			return 0, 0, 0, ErrNotMP4
		}
		if err := skip(r, size); err != nil {
			return 0, 0, 0, notMP4(err)
		}
	}
	return 0, 0, 0, ErrNotMP4
}

func notMP4(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrNotMP4
	}
	return err
}

// boxHead reads the head of a box. size is what follows; -1 = up to the end of the file.
func boxHead(r io.Reader) (kind string, size int64, err error) {
	var b [16]byte
	if _, err := io.ReadFull(r, b[:8]); err != nil {
		return "", 0, err
	}
	kind = string(b[4:8])
	switch n := binary.BigEndian.Uint32(b[:4]); {
	case n == 0:
		return kind, -1, nil
	case n == 1:
		if _, err := io.ReadFull(r, b[8:]); err != nil {
			return "", 0, err
		}
		large := binary.BigEndian.Uint64(b[8:])
		if large < 16 || large > math.MaxInt64 {
			return "", 0, ErrNotMP4
		}
		return kind, int64(large) - 16, nil
	case n < 8:
		return "", 0, ErrNotMP4
	default:
		return kind, int64(n) - 8, nil
	}
}

// skip passes over bytes, without reading them where r can.
func skip(r io.Reader, n int64) error {
	if s, ok := r.(io.Seeker); ok {
		_, err := s.Seek(n, io.SeekCurrent)
		return err
	}
	_, err := io.CopyN(io.Discard, r, n)
	return err
}

// movie is what the head of a film says.
type movie struct{ width, height, seconds int }

// read looks through the boxes of a box.
func (m *movie) read(b []byte, depth int) {
	const deepest = 3
	for r := bytes.NewReader(b); r.Len() > 0; {
		kind, size, err := boxHead(r)
		if err != nil {
			return
		}
		if size < 0 || size > int64(r.Len()) {
			size = int64(r.Len())
		}
		from := len(b) - r.Len()
		inner := b[from : from+int(size)]
		_, _ = r.Seek(size, io.SeekCurrent) // inside
		switch kind {
		case "mvhd":
			m.seconds = playtime(inner)
		case "tkhd":
			m.track(inner)
		case "trak":
			if depth < deepest {
				m.read(inner, depth+1)
			}
		}
	}
}

// playtime reads a movie header: a duration in units of which so many are a second.
func playtime(b []byte) int {
	var scale, units uint64
	switch {
	case len(b) >= 32 && b[0] == 1:
		scale, units = uint64(binary.BigEndian.Uint32(b[20:])), binary.BigEndian.Uint64(b[24:])
	case len(b) >= 20 && b[0] == 0:
		scale, units = uint64(binary.BigEndian.Uint32(b[12:])), uint64(binary.BigEndian.Uint32(b[16:]))
	}
	const longest = 7 * 24 * 3600
	if scale == 0 || units/scale > longest {
		return 0
	}
	return int((units + scale - 1) / scale)
}

// track reads a track header: the largest picture counts. One that is turned by a quarter has its sides exchanged.
func (m *movie) track(b []byte) {
	matrix := 40
	if len(b) > 0 && b[0] == 1 {
		matrix = 52
	}
	if len(b) < matrix+44 {
		return
	}
	w, h := int(binary.BigEndian.Uint32(b[matrix+36:])>>16), int(binary.BigEndian.Uint32(b[matrix+40:])>>16)
	if binary.BigEndian.Uint32(b[matrix:]) == 0 && binary.BigEndian.Uint32(b[matrix+4:]) != 0 {
		w, h = h, w
	}
	if w <= mostSide && h <= mostSide && w*h > m.width*m.height {
		m.width, m.height = w, h
	}
}
