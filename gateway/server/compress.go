package server

import (
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"
)

// compressed are the content types that gzip makes smaller.
var compressed = []string{"text/html", "text/css", "text/javascript", "text/plain", "application/json", "application/manifest+json", "image/svg+xml"}

// compressFrom is the size in bytes from which compression is worth its header.
const compressFrom = 1024

// compress wraps the page and the API with gzip for those who accept it. Event streams are compressed from the first byte and sent at each flush: an
// answer that is shown while it grows repeats itself.
func compress(h http.Handler) http.Handler {
	whole, err := gzhttp.NewWrapper(gzhttp.ContentTypes(compressed), gzhttp.MinSize(compressFrom), gzhttp.EnableZstd(false))
	stream, err2 := gzhttp.NewWrapper(gzhttp.ContentTypes([]string{"text/event-stream"}), gzhttp.MinSize(0), gzhttp.EnableZstd(false))
	if err != nil || err2 != nil { // of options that it does not know
		return h
	}
	wholes, streams := whole(h), stream(h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
			streams.ServeHTTP(w, r)
			return
		}
		wholes.ServeHTTP(w, r)
	})
}
