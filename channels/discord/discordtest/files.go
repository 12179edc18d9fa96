package discordtest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// emojiPattern is a character that is no plain text, or a custom emoji.
var emojiPattern = regexp.MustCompile(`^([^\x00-\x7f][^a-zA-Z]*|[0-9#*]\x{FE0F}?\x{20E3}|\w{2,32}:\d+)$`)

type blob struct {
	File
	made int // links of an earlier one have expired
}

// attach stores a file and hangs it on a message.
func (s *Server) attach(m *message, f File) {
	id := s.newID(time.Now())
	path := "/attachments/" + m.channel.id + "/" + id + "/" + f.Name
	s.blobs[path] = blob{File: f}
	m.data = append(m.data, f)
	o := object{"id": id, "filename": f.Name, "size": len(f.Data), "path": path}
	if f.Type != "" {
		o["content_type"] = f.Type
	}
	if strings.HasPrefix(f.Type, "image/") {
		o["width"], o["height"] = 16, 16
	}
	m.files = append(m.files, o)
}

// links are the attachments with links that are good for a day from now on.
func (s *Server) links(files []object) []object {
	var list []object
	for _, f := range files {
		o := maps.Clone(f)
		path, _ := o["path"].(string)
		delete(o, "path")
		until := strconv.FormatInt(time.Now().Add(24*time.Hour).Unix(), 16)
		at := (&url.URL{Path: path}).EscapedPath() + "?ex=" + until + "&is=" + strconv.FormatInt(time.Now().Unix(), 16) + "&hm=" + sign(path, until, s.blobs[path].made)
		o["url"], o["proxy_url"] = "https://cdn.discordapp.com"+at, "https://media.discordapp.net"+at
		list = append(list, o)
	}
	return list
}

func sign(path, until string, made int) string {
	mac := hmac.New(sha256.New, []byte("discordtest"))
	_, _ = fmt.Fprint(mac, path, " ", until, " ", made)
	return hex.EncodeToString(mac.Sum(nil))
}

// ExpireLinks makes every link to a file invalid that was given so far, as a day does; reading the message again gives new ones.
func (s *Server) ExpireLinks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, b := range s.blobs {
		b.made++
		s.blobs[path] = b
	}
}

// FileLimit sets the largest file that the bot may send; Discord: 10 MiB.
func (s *Server) FileLimit(bytes int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.maxFile = bytes
}

// serveFile is the host of files.
func (s *Server) serveFile(w http.ResponseWriter, r *http.Request) {
	c := &Call{Method: r.Method, Route: RouteFile, Path: r.URL.Path, Query: r.URL.Query(), At: time.Now()}
	s.mu.Lock()
	b, known := s.blobs[r.URL.Path]
	s.calls = append(s.calls, *c)
	fault := s.takeFault(c)
	if r.Header.Get("Authorization") != "" {
		s.violate("GET %s: the token goes to discord.com only", r.URL.Path)
	}
	s.mu.Unlock()
	if fault != nil {
		a := fault.apply(r.Context())
		if a.cut {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body)
		return
	}
	until := c.Query.Get("ex")
	ends, err := strconv.ParseInt(until, 16, 64)
	if !known || err != nil || time.Now().Unix() > ends || c.Query.Get("hm") != sign(r.URL.Path, until, b.made) {
		http.Error(w, "This content is no longer available.", http.StatusNotFound)
		return
	}
	if b.Type != "" {
		w.Header().Set("Content-Type", b.Type)
	}
	_, _ = w.Write(b.Data) //nolint:gosec // a file that the test itself put there
}
