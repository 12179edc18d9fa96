package wire

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// gzipMagic begins each gzip file: its magic number, and the one method that there is (RFC 1952).
var gzipMagic = []byte{0x1f, 0x8b, 8}

// unzippedBody is a body that is read as gzip where it begins like that. The transport asks for no compression, but some proxies
// compress all the same, with or without a Content-Encoding. What comes out is bounded like any body, by the reader around it.
type unzippedBody struct {
	io.Closer
	raw  *bufio.Reader
	read io.Reader // nil = nothing was read yet

	deflated bool // the header says so
}

func unzipped(rc io.ReadCloser, encoding string) io.ReadCloser {
	return &unzippedBody{Closer: rc, raw: bufio.NewReaderSize(rc, 16), deflated: strings.EqualFold(strings.TrimSpace(encoding), "deflate")} // only what is peeked at is copied
}

// inflate reads deflate: as zlib, as HTTP has it, or bare, as some servers send it (RFC 9110, section 8.4.1.2). What is text already stays.
func (b *unzippedBody) inflate() {
	raw := bufio.NewReader(b.raw)
	start, _ := raw.Peek(2)
	switch b.read = raw; {
	case len(start) < 2 || bytes.IndexByte([]byte("{[d:ei \n\r\t<"), start[0]) >= 0: // JSON, an event, a page
	case start[0]&0x0f == 8 && (int(start[0])<<8+int(start[1]))%31 == 0:
		if z, err := zlib.NewReader(raw); err == nil {
			b.read = z
		}
	default:
		b.read = flate.NewReader(raw)
	}
}

func (b *unzippedBody) Read(p []byte) (int, error) {
	if b.read != nil {
		return b.read.Read(p)
	}
	b.read = b.raw
	if b.deflated {
		b.inflate()
		return b.read.Read(p)
	}
	if first, err := b.raw.Peek(1); err != nil || first[0] != gzipMagic[0] { // of a stream no more is waited for than came
		return b.raw.Read(p)
	}
	if start, _ := b.raw.Peek(len(gzipMagic)); bytes.Equal(start, gzipMagic) { // a shorter body is none
		z, err := gzip.NewReader(bufio.NewReader(b.raw))
		if err != nil {
			return 0, err
		}
		b.read = z
	}
	return b.read.Read(p)
}

// isText reports whether bytes may be a text, in any encoding: one that is no UTF-8 has no control characters at least.
func isText(raw []byte) bool {
	control, invalid, all := 0, 0, 0
	for i := 0; i < len(raw); all++ {
		r, size := utf8.DecodeRune(raw[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			invalid++
		case unicode.IsControl(r) && !unicode.IsSpace(r) && r != '\x1b': // terminals' colours begin with that
			control++
		}
		i += size
	}
	return control*10 <= all && (control == 0 || invalid*10 <= all)
}

// noText says in the place of bytes that are no text how many there are.
func noText(n int) string { return fmt.Sprintf("a body that is not text (%d bytes)", n) }
