package whatsapptest

import (
	"encoding/json"
	"io"
	"net/http"
)

// upload keeps ciphertext: nobody but the people in a chat has the key of a file.
func (s *Server) upload(w http.ResponseWriter, r *http.Request) {
	b, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	token := r.PathValue("token")
	s.mu.Lock()
	status := s.refused[r.PathValue("kind")]
	if status == 0 {
		s.media[token] = b
	}
	s.mu.Unlock()
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"url": "https://mmg.whatsapp.net/v/" + token, "direct_path": "/v/" + token + "?ccb=1"})
}

func (s *Server) download(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	b, ok := s.media[r.PathValue("token")]
	s.mu.Unlock()
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(b)
}

// RefuseUploads answers uploads of a kind of file ("image", "document", …) with a status; 0 ends that.
func (s *Server) RefuseUploads(kind string, status int) { s.set(func() { s.refused[kind] = status }) }

// ForgetMedia removes every file from the server, as the real one does after some weeks.
func (s *Server) ForgetMedia() { s.set(func() { clear(s.media) }) }
