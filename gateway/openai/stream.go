package openai

import (
	"encoding/json"
	"net/http"
)

// stream is an answer as server-sent events. That each write has a deadline is the door's.
type stream struct {
	w  http.ResponseWriter
	rc *http.ResponseController
}

func startStream(w http.ResponseWriter) *stream {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep it back
	w.WriteHeader(http.StatusOK)
	return &stream{w, http.NewResponseController(w)}
}

// data sends one event; a name of "" leaves the line out.
func (s *stream) data(name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line := "data: " + string(b) + "\n\n"
	if name != "" {
		line = "event: " + name + "\n" + line
	}
	return s.raw(line)
}

// ping is a comment, which clients pass over.
func (s *stream) ping() error { return s.raw(": at work\n\n") }

func (s *stream) raw(text string) error {
	if _, err := s.w.Write([]byte(text)); err != nil {
		return err
	}
	return s.rc.Flush()
}
