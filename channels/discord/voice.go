package discord

import (
	"encoding/base64"

	"parley/channels"
)

// voice is what a voice message says about its only file besides: Discord takes none without.
// https://discord.com/developers/docs/resources/message#voice-messages
type voice struct {
	seconds  float64
	waveform string // base64, a byte for each value
}

// voiceOf reads the file of a message that can be a voice message: it has nothing else, and its file is Ogg Opus. nil = it cannot.
func voiceOf(out channels.Outbound) *voice {
	if len(out.Files) != 1 || out.Files[0].Kind != channels.Audio || out.Text != "" {
		return nil
	}
	r, err := out.Files[0].Open()
	if err != nil {
		return nil // to be said when it is sent
	}
	defer func() { _ = r.Close() }()
	seconds, loudness, err := channels.ReadVoice(r)
	if err != nil || seconds <= 0 {
		return nil
	}
	wave := make([]byte, len(loudness))
	for i, v := range loudness { // up to 100
		wave[i] = byte(min(int(v)*255/100, 255)) //nolint:gosec // not more than 255
	}
	return &voice{seconds: float64(seconds), waveform: base64.StdEncoding.EncodeToString(wave)}
}
