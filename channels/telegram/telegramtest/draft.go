package telegramtest

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Draft is one preview of an answer that a person saw.
type Draft struct {
	Chat   int64
	Thread int64
	ID     int64
	Text   string
	Stop   bool // with a button to stop the answer
	At     time.Time
	Sent   int // how many messages of the bot there were
}

// StopDraft presses the button below a draft.
func (s *Server) StopDraft(d Draft) Posted {
	s.mu.Lock()
	body := object{"chat": s.chats[d.Chat].wire(), "draft_id": d.ID}
	s.mu.Unlock()
	if d.Thread != 0 {
		body["message_thread_id"] = d.Thread
	}
	return Posted{Chat: d.Chat, UpdateID: s.push("stopped_message_generation", body)}
}

// Drafts gives the previews so far, in order.
func (s *Server) Drafts() []Draft {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.drafts)
}

func (s *Server) sendMessageDraft(p url.Values) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, thread, bad := s.target(p)
	if bad != nil {
		return *bad
	}
	if c.kind != "private" {
		return *badRequest("TEXTDRAFT_PEER_INVALID")
	}
	id, err := strconv.ParseInt(p.Get("draft_id"), 10, 64)
	if err != nil || id == 0 {
		return *badRequest("draft_id must be non-zero")
	}
	d := Draft{Chat: c.id, Thread: thread, ID: id, Stop: p.Get("can_stop") == "true", At: time.Now(), Sent: len(s.sent)}
	if p.Get("text") != "" { // empty is the placeholder "Thinking..."
		if d.Text, _, bad = visible(p, 4096); bad != nil {
			return *bad
		}
	}
	s.drafts = append(s.drafts, d)
	s.notify()
	return ok(json.RawMessage("true"))
}
