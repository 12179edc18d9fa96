// Package telegramtest is a stand-in for the Telegram Bot API: it speaks its wire protocol in-process, so that the adapter and
// the whole host are tested with the unmodified client library. Where the machine-readable description of the API is found, every
// request that arrives and everything that the stand-in sends is validated against it.
package telegramtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// T is what a server needs of a test; *testing.T and *testing.B have it.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(fn func())
}

// What the stand-in's bot is called, and its token.
const (
	BotID       int64 = 7000000001
	BotUsername       = "parley_test_bot"
	BotToken          = "7000000001:AAtest-token_that-must-never-be-printed"
)

// Server is one bot's view of Telegram. All methods may be called from any goroutine.
type Server struct {
	t    T
	spec *Spec
	bot  atomic.Int64 // its id; 0 = BotID

	mu         sync.Mutex
	changed    chan struct{}   // closed and replaced at every change
	arrived    chan struct{}   // closed and replaced at every new update
	live       context.Context // ends at Disconnect
	cut        context.CancelFunc
	down       bool
	updates    []update // not confirmed, by id
	nextUpdate int64
	confirmed  int64
	poll       *poller
	chats      map[int64]*chat
	users      map[int64]User
	sent       []Message
	reactions  []Reaction
	files      map[string][]byte // by file id
	calls      []Call
	faults     []*Fault
	pace       pace
	pacing     bool
	commands   map[string]json.RawMessage
	hook       *webhook
	receiver   http.Handler // of webhooks
	deliveries []Delivery
	allowed    []string // kinds of updates that the bot asked for; empty = the usual ones
	drafts     []Draft
	violations []string
	fine       bool // dates are in milliseconds
	impatient  bool // polls are answered at once

	listen   sync.Once
	listener net.Listener
	http     *http.Server
}

// Become makes the bot another one, before anything asks who it is: two accounts are not one login.
func (s *Server) Become(id int64) { s.bot.Store(id) }

// New makes a server. With t it is closed when the test ends, and every violation of the protocol fails the test; without (nil)
// the caller closes it, and nothing is validated unless Validate is called.
func New(t T) *Server {
	s := &Server{
		t: t, changed: make(chan struct{}), arrived: make(chan struct{}), nextUpdate: 1000001,
		chats: map[int64]*chat{}, users: map[int64]User{}, commands: map[string]json.RawMessage{},
		hook: &webhook{},
	}
	s.live, s.cut = context.WithCancel(context.Background())
	if t != nil {
		s.spec, _ = FindSpec()
		t.Cleanup(func() {
			t.Helper()
			s.Close()
			for _, v := range s.Violations() {
				t.Errorf("telegram protocol: %s", v)
			}
		})
	}
	return s
}

// Validate makes the server check what passes against spec; nil stops that. Set it before the first request.
func (s *Server) Validate(spec *Spec) { s.spec = spec }

// Token is the bot's token.
func (s *Server) Token() string { return BotToken }

// URL starts the server on a free loopback port, once, and gives its base URL: what apiUrl of the adapter is set to.
func (s *Server) URL() string {
	s.listen.Do(func() {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(fmt.Sprintf("telegramtest: no loopback port: %v", err))
		}
		s.listener, s.http = l, &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
		go func() { _ = s.http.Serve(l) }()
	})
	return "http://" + s.listener.Addr().String()
}

// Close cuts every connection and stops listening.
func (s *Server) Close() {
	s.Down(true)
	s.SetWebhook("")
	s.listen.Do(func() {})
	if s.http != nil {
		_ = s.http.Close()
	}
}

// Disconnect cuts every request under way without an answer.
func (s *Server) Disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cut()
	s.live, s.cut = context.WithCancel(context.Background())
}

// Down makes the server refuse every connection, and cuts those under way, until it is called with false.
func (s *Server) Down(down bool) {
	s.mu.Lock()
	s.down = down
	s.mu.Unlock()
	if down {
		s.Disconnect()
	}
}

// Milliseconds makes the server write dates in milliseconds, as some servers behind apiUrl do.
// source: the Bot API's Message.date, which is in seconds
func (s *Server) Milliseconds(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fine = on
}

// Impatient makes the server answer getUpdates at once, with nothing when there is nothing.
// source: the Bot API's getUpdates, timeout ("0, i.e. usual short polling"); tdlib/telegram-bot-api#842
func (s *Server) Impatient(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.impatient = on
}

// date is what a message of now says about when it was sent. The caller holds s.mu.
func (s *Server) date() int64 {
	if s.fine {
		return time.Now().UnixMilli()
	}
	return time.Now().Unix()
}

// Violations gives what broke the protocol so far.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// Wait waits until done reports true; it is asked again at every change of the server.
func (s *Server) Wait(ctx context.Context, done func() bool) error {
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if done() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Server) notify() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *Server) violate(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.violations) < 100 {
		s.violations = append(s.violations, fmt.Sprintf(format, args...))
	}
}

// reply is an answer before it is written.
type reply struct {
	status  int
	header  http.Header
	body    []byte
	refused bool // no connection at all
	cut     bool // the connection ends without an answer
}

// envelope is the JSON around every answer.
type envelope struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result,omitempty"`
	ErrorCode   int             `json:"error_code,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  *parameters     `json:"parameters,omitempty"`
}

type parameters struct {
	RetryAfter      int   `json:"retry_after,omitempty"`
	MigrateToChatID int64 `json:"migrate_to_chat_id,omitempty"`
}

func ok(result json.RawMessage) reply {
	body := make([]byte, 0, len(result)+24)
	body = append(body, `{"ok":true,"result":`...)
	body = append(body, result...)
	return reply{status: http.StatusOK, body: append(body, '}')}
}

func failure(code int, description string) reply { return failureWith(code, description, nil) }

func failureWith(code int, description string, p *parameters) reply {
	body, _ := json.Marshal(envelope{ErrorCode: code, Description: description, Parameters: p})
	r := reply{status: code, body: body}
	if p != nil && p.RetryAfter > 0 {
		r.header = http.Header{"Retry-After": {strconv.Itoa(p.RetryAfter)}}
	}
	return r
}

// Call is one request that arrived.
type Call struct {
	Method string
	Params url.Values
	Chat   int64 // the chat_id, 0 where there is none
	At     time.Time
	Status int // HTTP status of the answer; 0 = not answered (cut, hanging or still under way)
}

// Calls gives the requests so far in the order of arrival; with methods only those.
func (s *Server) Calls(methods ...string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.calls), func(c Call) bool { return len(methods) > 0 && !slices.Contains(methods, c.Method) })
}

// Forget empties the logs of calls, messages and reactions.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls, s.sent, s.reactions = nil, nil, nil
}

// answer handles one request from its arrival to its reply; it blocks as long as the real server would.
func (s *Server) answer(ctx context.Context, token, method string, params url.Values, files uploads) reply {
	s.mu.Lock()
	if s.down {
		s.mu.Unlock()
		return reply{refused: true, cut: true}
	}
	chatID, _ := strconv.ParseInt(params.Get("chat_id"), 10, 64)
	index := len(s.calls)
	s.calls = append(s.calls, Call{Method: method, Params: params, Chat: chatID, At: time.Now()})
	fault := s.takeFault(method, chatID)
	s.notify()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.live, cancel)()
	s.mu.Unlock()

	r := s.decide(ctx, token, method, params, files, fault)
	if ctx.Err() != nil {
		r = reply{cut: true}
	}
	s.mu.Lock()
	if !r.cut && index < len(s.calls) {
		s.calls[index].Status = r.status
	}
	s.mu.Unlock()
	return r
}

func (s *Server) decide(ctx context.Context, token, method string, params url.Values, files uploads, fault *Fault) reply {
	if fault == nil || fault.Arrives {
		r := s.dispatch(ctx, token, method, params, files)
		if fault == nil {
			return r
		}
	}
	return fault.apply(ctx)
}

func (s *Server) dispatch(ctx context.Context, token, method string, params url.Values, files uploads) reply {
	if token != BotToken {
		if id, _, found := strings.Cut(token, ":"); !found || id == "" {
			return failure(http.StatusNotFound, "Not Found")
		}
		return failure(http.StatusUnauthorized, "Unauthorized")
	}
	files.name(params)
	if files.size() > maxUpload {
		return failure(http.StatusRequestEntityTooLarge, "Request Entity Too Large")
	}
	if s.spec != nil {
		for _, v := range s.spec.Call(method, params) {
			s.violate("request %s", v)
		}
	}
	r := s.handle(ctx, method, params, files)
	// Updates were checked when they were queued, and raw ones may be bad on purpose.
	if s.spec != nil && r.status == http.StatusOK && method != "getUpdates" {
		var e envelope
		if err := json.Unmarshal(r.body, &e); err != nil {
			s.violate("answer to %s: %v", method, err)
		}
		for _, v := range s.spec.Result(method, e.Result) {
			s.violate("answer to %s", v)
		}
	}
	return r
}

func (s *Server) handle(ctx context.Context, method string, params url.Values, files uploads) reply {
	switch method {
	case "getMe":
		return s.getMe()
	case "getUpdates":
		return s.getUpdates(ctx, params)
	case "sendMessage":
		return s.sendMessage(params)
	case "editMessageText":
		return s.editMessageText(params)
	case "sendChatAction":
		return s.sendChatAction(params)
	case "setMessageReaction":
		return s.setMessageReaction(params)
	case "getFile":
		return s.getFile(params)
	case "getMyCommands":
		return s.getMyCommands(params)
	case "setMyCommands":
		return s.setMyCommands(params)
	case "sendPhoto", "sendVideo", "sendAudio", "sendVoice", "sendDocument", "sendSticker":
		return s.sendFile(strings.ToLower(strings.TrimPrefix(method, "send")), params, files)
	case "sendMediaGroup":
		return s.sendMediaGroup(params, files)
	case "deleteMessage":
		return s.deleteMessage(params)
	case "sendMessageDraft":
		return s.sendMessageDraft(params)
	case "setWebhook":
		return s.setWebhook(params)
	case "getWebhookInfo":
		return s.getWebhookInfo()
	case "deleteWebhook":
		return s.deleteWebhook()
	default:
		return failure(http.StatusNotFound, "Not Found: method not found")
	}
}

var errPath = errors.New("want /bot<token>/<method>")

// parsePath takes a request path apart.
func parsePath(path string) (token, method string, err error) {
	rest, found := strings.CutPrefix(path, "/bot")
	token, method, slash := strings.Cut(rest, "/")
	if !found || !slash {
		return "", "", errPath
	}
	return token, method, nil
}
