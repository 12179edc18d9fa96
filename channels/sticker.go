package channels

import "encoding/binary"

// StickerSide is how many pixels a sticker has at most, in both directions, on the platforms that have stickers.
const StickerSide = 512

// ReadWebP reads the size of a picture in pixels, and whether it moves, from the first 30 bytes of a WebP file. false: it is none.
// Format: RFC 9649.
func ReadWebP(start []byte) (width, height int, animated, ok bool) {
	const head = 30
	if len(start) < head || string(start[:4]) != "RIFF" || string(start[8:12]) != "WEBP" {
		return 0, 0, false, false
	}
	switch b := start[20:head]; string(start[12:16]) {
	case "VP8 ": // behind a frame tag and a start code
		return int(binary.LittleEndian.Uint16(b[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(b[8:]) & 0x3fff), false, b[3] == 0x9d && b[4] == 0x01 && b[5] == 0x2a
	case "VP8L":
		bits := binary.LittleEndian.Uint32(b[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1, false, b[0] == 0x2f
	case "VP8X":
		return 1 + int(b[4]) + int(b[5])<<8 + int(b[6])<<16, 1 + int(b[7]) + int(b[8])<<8 + int(b[9])<<16, b[0]&2 != 0, true
	}
	return 0, 0, false, false
}
