package webtest

import (
	"net/http"
	"net/http/httptest"
)

// LoseAnswers makes the host take the next n posts and then break the connection in place of answering.
func (h *Host) LoseAnswers(n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lost = n
}

// Posts gives how many posts have reached the host, repeated ones included.
func (h *Host) Posts() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.posts
}

func (h *Host) lossy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		h.mu.Lock()
		h.posts++
		lose := h.lost > 0
		if lose {
			h.lost--
		}
		h.mu.Unlock()
		if !lose {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	})
}
