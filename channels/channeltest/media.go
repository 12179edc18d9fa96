package channeltest

import (
	"bytes"
	"encoding/binary"
)

// Opus makes a voice message of so many seconds: an Ogg file with packets of 20 ms, loud in its second half.
func Opus(seconds int) []byte {
	const skip, packet, perPage = 312, 960, 50
	var out bytes.Buffer
	page := func(flags byte, granule int64, number uint32, packets ...[]byte) {
		var table, body []byte
		for _, p := range packets {
			for n := len(p); ; n -= 255 {
				table = append(table, byte(min(n, 255)))
				if n < 255 {
					break
				}
			}
			body = append(body, p...)
		}
		head := append([]byte("OggS\x00"), flags)
		head = binary.LittleEndian.AppendUint64(head, uint64(granule))
		head = binary.LittleEndian.AppendUint32(head, 7)
		head = binary.LittleEndian.AppendUint32(head, number)
		head = binary.LittleEndian.AppendUint32(head, 0) // a checksum that nobody reads
		out.Write(append(append(append(head, byte(len(table))), table...), body...))
	}
	id := append([]byte("OpusHead\x01\x01"), binary.LittleEndian.AppendUint16(nil, skip)...)
	page(2, 0, 0, append(id, 0x80, 0xbb, 0, 0, 0, 0, 0))
	page(0, 0, 1, append([]byte("OpusTags"), make([]byte, 300)...))
	for s := range seconds {
		var packets [][]byte
		for range perPage {
			p := make([]byte, 20)
			if 2*s >= seconds {
				p = make([]byte, 120)
			}
			p[0] = 1 << 3 // 20 ms of narrow-band speech, one frame
			packets = append(packets, p)
		}
		flags, granule := byte(0), int64(s+1)*perPage*packet
		if s == seconds-1 {
			flags, granule = 4, granule-packet/2 // the end is cut
		}
		page(flags, granule, uint32(s+2), packets...)
	}
	return out.Bytes()
}

// MP4 makes the head of a film of a size in pixels and a length in seconds, behind so many bytes of content.
func MP4(width, height, seconds, content int) []byte {
	box := func(kind string, parts ...[]byte) []byte {
		body := bytes.Join(parts, nil)
		return append(append(binary.BigEndian.AppendUint32(nil, uint32(8+len(body))), kind...), body...)
	}
	words := func(list ...uint32) (b []byte) {
		for _, w := range list {
			b = binary.BigEndian.AppendUint32(b, w)
		}
		return b
	}
	const scale = 600
	mvhd := box("mvhd", words(0, 0, 0, scale, uint32(seconds*scale)), make([]byte, 80))
	tkhd := box("tkhd", words(7, 0, 0, 1, 0, uint32(seconds*scale), 0, 0, 0, 0), words(1<<16, 0, 0, 0, 1<<16, 0, 0, 0, 1<<30), words(uint32(width)<<16, uint32(height)<<16))
	sound := box("tkhd", words(7, 0, 0, 2, 0, uint32(seconds*scale), 0, 0, 0, 0), make([]byte, 44))
	return bytes.Join([][]byte{
		box("ftyp", []byte("isom\x00\x00\x02\x00mp41mp42")), box("mdat", make([]byte, content)), box("moov", mvhd, box("trak", sound), box("trak", tkhd)),
	}, nil)
}

// WebP makes the head of a WebP picture; the rest of it is empty.
func WebP(width, height int, animated bool) []byte {
	b := append([]byte("RIFF\x00\x10\x00\x00WEBPVP8X\x0a\x00\x00\x00"), 0, 0, 0, 0, byte(width-1), byte((width-1)>>8), 0, byte(height-1), byte((height-1)>>8), 0)
	if animated {
		b[20] |= 2
	}
	return append(b, make([]byte, 100)...)
}
