package telegramtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// webhook is how the bot wants its updates delivered.
type webhook struct {
	url, secret string
	stop        context.CancelFunc
	errorAt     time.Time
	errorText   string
}

// longestWait is the longest time between two tries to deliver an update; the real server takes a random one of 60 to 120 seconds.
const longestWait = 2 * time.Minute

// recorder keeps the status of an answer.
type recorder struct {
	header http.Header
	status int
}

func (r *recorder) Header() http.Header { return r.header }

func (r *recorder) WriteHeader(status int) {
	if r.status == 0 {
		r.status = status
	}
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return len(p), nil
}

// Route says who answers at the URLs of webhooks. nil = nobody does.
func (s *Server) Route(h http.Handler) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.receiver = h
}

func (s *Server) setWebhook(p url.Values) reply {
	if p.Get("url") == "" {
		return s.deleteWebhook()
	}
	u, err := url.Parse(p.Get("url"))
	if err != nil || u.Scheme != "https" {
		return *badRequest("bad webhook: An HTTPS URL must be provided for webhook")
	}
	s.allow(p)
	s.SetWebhook(p.Get("url"))
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, stop := context.WithCancel(context.Background())
	s.hook.secret, s.hook.stop = p.Get("secret_token"), stop
	go s.deliver(ctx, s.hook)
	return ok(json.RawMessage("true"))
}

// allow keeps which kinds of updates the bot asks for.
func (s *Server) allow(p url.Values) {
	var kinds []string
	if json.Unmarshal([]byte(p.Get("allowed_updates")), &kinds) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allowed = kinds
}

func (s *Server) getWebhookInfo() reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	info := object{"url": s.hook.url, "has_custom_certificate": false, "pending_update_count": len(s.updates)}
	if s.hook.errorText != "" {
		info["last_error_date"], info["last_error_message"] = s.hook.errorAt.Unix(), s.hook.errorText
	}
	return result(info)
}

// deliver sends updates to the webhook: those of one chat one after the other, each until it was taken, those of different chats at
// the same time, as the real server does.
func (s *Server) deliver(ctx context.Context, w *webhook) {
	busy := map[string]bool{}
	done := make(chan string)
	for {
		s.mu.Lock()
		arrived := s.arrived
		for _, u := range s.updates {
			queue := queueOf(u.raw)
			if busy[queue] {
				continue
			}
			busy[queue] = true
			go func() {
				for wait := time.Second; ctx.Err() == nil && !s.push1(ctx, w, u); wait = min(2*wait, longestWait) {
					pause(ctx, wait)
				}
				select {
				case done <- queue:
				case <-ctx.Done():
				}
			}()
		}
		s.mu.Unlock()
		select {
		case <-arrived:
		case queue := <-done:
			delete(busy, queue)
		case <-ctx.Done():
			return
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// push1 delivers one update once and reports whether it was taken.
func (s *Server) push1(ctx context.Context, w *webhook, u update) bool {
	s.mu.Lock()
	receiver, down, live := s.receiver, s.down, s.live
	s.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(live, cancel)()
	problem := "Connection refused"
	if receiver != nil && !down {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, bytes.NewReader(u.raw))
		if err != nil {
			panic(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Telegram-Bot-Api-Secret-Token", w.secret)
		rec := &recorder{header: http.Header{}}
		receiver.ServeHTTP(rec, req)
		problem = ""
		if rec.status != http.StatusOK && rec.status != 0 {
			problem = fmt.Sprintf("Wrong response from the webhook: %d %s", rec.status, http.StatusText(rec.status))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliveries = append(s.deliveries, Delivery{Update: u.id, At: time.Now(), Problem: problem})
	if problem != "" || ctx.Err() != nil {
		w.errorAt, w.errorText = time.Now(), problem
		s.notify()
		return false
	}
	for i, q := range s.updates {
		if q.id == u.id {
			s.updates = append(s.updates[:i:i], s.updates[i+1:]...)
			break
		}
	}
	s.confirmed = max(s.confirmed, u.id)
	s.notify()
	return true
}

// Hooked reports whether updates are delivered to a webhook that the bot has set.
func (s *Server) Hooked() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hook.stop != nil
}

// Delivery is one try to deliver an update to the webhook.
type Delivery struct {
	Update  int64
	At      time.Time
	Problem string // empty = it was taken
}

// Deliveries gives the tries so far, in order.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Delivery(nil), s.deliveries...)
}

// queueOf is the chat that an update belongs to; updates without one are a queue each.
func queueOf(raw json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) == nil {
		for _, body := range fields {
			var m struct {
				Chat struct {
					ID int64 `json:"id"`
				} `json:"chat"`
			}
			if json.Unmarshal(body, &m) == nil && m.Chat.ID != 0 {
				return strconv.FormatInt(m.Chat.ID, 10)
			}
		}
	}
	return string(raw)
}

// SetWebhook makes a webhook active, as another program would; an empty URL removes it.
func (s *Server) SetWebhook(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.hook.stop != nil {
		s.hook.stop()
	}
	s.hook = &webhook{url: url}
}

func (s *Server) deleteWebhook() reply {
	s.SetWebhook("")
	return ok(json.RawMessage("true"))
}
