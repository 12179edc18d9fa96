package channels

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// Waveform is how many values picture a voice message.
const Waveform = 64

// ErrNotOpus says that a file is no Ogg stream of Opus, which is what platforms take as a voice message.
var ErrNotOpus = errors.New("not an Ogg Opus file")

const (
	opusRate     = 48000 // samples of a second, whatever the recording had
	longestFrame = 5760  // samples of a packet: 120 ms
)

// ReadVoice reads the length of a voice message in seconds, rounded up, and its loudness over time as Waveform values from 0 to 100. Loudness
// is how many bytes the encoder spent: silence costs it few. A file that breaks off counts as far as it goes. The error is ErrNotOpus, or
// that of r. Formats: RFC 3533 (Ogg), RFC 6716 (Opus), RFC 7845 (one in the other).
func ReadVoice(r io.Reader) (seconds int, waveform []byte, err error) {
	s := opusStream{in: bufio.NewReader(r)}
	for {
		switch more, err := s.page(); {
		case err != nil:
			return 0, nil, err
		case more:
		case !s.found:
			return 0, nil, ErrNotOpus
		default:
			return int((s.length() + opusRate - 1) / opusRate), s.loudness.waveform(), nil
		}
	}
}

// opusStream is the first stream of Opus in a file.
type opusStream struct {
	in       *bufio.Reader
	found    bool
	serial   uint32
	skip     int64 // samples at the beginning that are not played
	packets  int   // that are whole; the first two are headers
	samples  int64 // of all packets
	first    int64 // granule position before the first packet
	last     int64 // and after the last one
	timed    bool  // both are known
	packet   []byte
	size     int64 // of the packet so far
	loudness envelope
}

const headBytes = 19 // of a packet that are looked at: an OpusHead

// page reads one page. false: the file is over, or what follows is no page.
func (s *opusStream) page() (more bool, err error) {
	var head [27]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return false, broken(err)
	}
	if string(head[:4]) != "OggS" || head[4] != 0 {
		return false, nil
	}
	table := make([]byte, head[26])
	if _, err := io.ReadFull(s.in, table); err != nil {
		return false, broken(err)
	}
	serial := binary.LittleEndian.Uint32(head[14:])
	if s.found && serial != s.serial {
		return s.discard(table)
	}
	if head[5]&1 == 0 { // it does not begin with the rest of a packet
		s.packet, s.size = s.packet[:0], 0
	}
	before := s.samples
	for _, n := range table {
		if err := s.segment(int(n)); err != nil {
			return false, broken(err)
		}
		if n < 255 && !s.whole(serial) {
			return true, nil
		}
	}
	if granule := int64(binary.LittleEndian.Uint64(head[6:])); granule >= 0 && s.samples > before { //nolint:gosec // -1 is none
		if !s.timed {
			s.first = max(granule-s.samples, 0)
		}
		s.last, s.timed = granule, true
	}
	return true, nil
}

// broken makes the end of a file in the middle of a page the end.
func broken(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func (s *opusStream) discard(table []byte) (bool, error) {
	n := 0
	for _, size := range table {
		n += int(size)
	}
	_, err := s.in.Discard(n)
	return err == nil, broken(err)
}

// segment reads a part of a packet, and keeps its beginning.
func (s *opusStream) segment(n int) error {
	var b [255]byte
	if _, err := io.ReadFull(s.in, b[:n]); err != nil {
		return err
	}
	s.packet = append(s.packet, b[:min(n, headBytes-len(s.packet))]...)
	s.size += int64(n)
	return nil
}

// whole takes a packet that is complete. false: it shows that the stream is another one.
func (s *opusStream) whole(serial uint32) bool {
	defer func() { s.packet, s.size = s.packet[:0], 0 }()
	switch {
	case !s.found:
		if len(s.packet) < headBytes || string(s.packet[:8]) != "OpusHead" {
			return false
		}
		s.found, s.serial, s.skip = true, serial, int64(binary.LittleEndian.Uint16(s.packet[10:]))
	case s.packets > 1:
		n := packetSamples(s.packet)
		s.samples += n
		s.loudness.add(n, s.size)
	}
	s.packets++
	return true
}

// length gives the samples that are played. What the granule positions say counts where it can be true.
func (s *opusStream) length() int64 {
	if n := s.last - s.first - s.skip; s.timed && n > 0 && n <= s.samples {
		return n
	}
	return max(s.samples-s.skip, 0)
}

// packetSamples gives how long a packet plays, by its first two bytes.
func packetSamples(p []byte) int64 {
	if len(p) == 0 {
		return 0
	}
	var frame int64
	switch config := p[0] >> 3; {
	case config < 12:
		frame = []int64{480, 960, 1920, 2880}[config&3]
	case config < 16:
		frame = []int64{480, 960}[config&1]
	default:
		frame = []int64{120, 240, 480, 960}[config&3]
	}
	frames := int64(2)
	switch p[0] & 3 {
	case 0:
		frames = 1
	case 3:
		if len(p) < 2 {
			return 0
		}
		frames = int64(p[1] & 63)
	}
	return min(frame*frames, longestFrame)
}

// envelope is loudness over time, in a bounded number of steps that grow longer with the recording.
type envelope struct {
	steps          []float64 // bytes for each sample
	width          int64     // samples of a step
	samples, bytes int64     // of the step that is not full
}

func (e *envelope) add(samples, bytes int64) {
	if e.width == 0 {
		e.width = 960
	}
	if e.samples, e.bytes = e.samples+samples, e.bytes+bytes; e.samples < e.width {
		return
	}
	e.steps = append(e.steps, float64(e.bytes)/float64(e.samples))
	e.samples, e.bytes = 0, 0
	if len(e.steps) < 16*Waveform {
		return
	}
	for i := range len(e.steps) / 2 {
		e.steps[i] = (e.steps[2*i] + e.steps[2*i+1]) / 2
	}
	e.steps, e.width = e.steps[:len(e.steps)/2], 2*e.width
}

// waveform spreads the steps over Waveform values, the loudest of which is 100.
func (e *envelope) waveform() []byte {
	if len(e.steps) == 0 {
		return nil
	}
	out := make([]byte, Waveform)
	means := make([]float64, Waveform)
	loudest := 0.0
	for i := range means {
		from := i * len(e.steps) / Waveform
		to := max((i+1)*len(e.steps)/Waveform, from+1)
		for _, v := range e.steps[from:to] {
			means[i] += v / float64(to-from)
		}
		loudest = max(loudest, means[i])
	}
	if loudest > 0 {
		for i, v := range means {
			out[i] = byte(100 * v / loudest)
		}
	}
	return out
}
