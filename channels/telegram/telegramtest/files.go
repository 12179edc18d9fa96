package telegramtest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// AddFile gives the server a file that messages may name by its id.
func (s *Server) AddFile(id string, content []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		s.files = map[string][]byte{}
	}
	s.files[id] = content
}

func (s *Server) getFile(params url.Values) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := params.Get("file_id")
	content, found := s.files[id]
	if !found {
		return failure(http.StatusBadRequest, "Bad Request: wrong file_id or the file is temporarily unavailable")
	}
	body, err := json.Marshal(object{"file_id": id, "file_unique_id": "u" + id, "file_size": len(content), "file_path": "files/" + url.PathEscape(id)})
	if err != nil {
		return failure(http.StatusInternalServerError, err.Error())
	}
	return ok(body)
}

// file answers a request for a file, if it is one.
func (s *Server) file(path string) (reply, bool) {
	rest, found := strings.CutPrefix(path, "/file/bot"+BotToken+"/files/")
	if !found {
		return reply{}, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if content, found := s.files[rest]; found && !s.down {
		return reply{status: http.StatusOK, body: content}, true
	}
	return reply{status: http.StatusNotFound}, true
}
