package web

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"parley/channels"
	"parley/channels/webchat"
	"parley/gateway/api"
	"parley/sessions"
)

// Line is one line of a chat as people read it.
type Line struct {
	ID         string                 `json:"id"` // stable: of the transcript message, or of the delivery for a notice
	Role       Role                   `json:"role"`
	Who        string                 `json:"who,omitempty"`  // display name; empty = the role says it
	Text       string                 `json:"text,omitempty"` // Markdown; of people: as typed
	HTML       string                 `json:"html,omitempty"` // made from Text for readers that ask for it; History leaves it empty
	Time       time.Time              `json:"time"`
	Client     string                 `json:"client,omitempty"`     // of a person: the id that the client gave the message (Posted.ID)
	Run        sessions.RunID         `json:"run,omitempty"`        // of a person, who wrote here: the turn that answers
	Deliveries []string               `json:"deliveries,omitempty"` // ids of its deliveries; the key of a live message starts with one of them
	State      sessions.DeliveryState `json:"state,omitempty"`      // what became of it on the way to this chat; empty = nothing to deliver
	Rule       string                 `json:"rule,omitempty"`       // withheld: what decided
	Reason     string                 `json:"reason,omitempty"`     // failed, expired: why
	From       string                 `json:"from,omitempty"`       // a line that was not said here: where it comes from or went to, in words
	Command    bool                   `json:"command,omitempty"`    // a notice that answers a command; the command itself is no line
	ReplyTo    string                 `json:"replyTo,omitempty"`    // of a notice: the Client of what it answers, where the store knows it
}

// Role says who speaks in a line.
type Role string

// The roles. A notice is the host's own: the answer to a command.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Notice    Role = "notice"
)

// Info is what the page says about the host.
type Info struct {
	Agent       string        `json:"agent"`                 // display name
	Model       string        `json:"model"`                 // provider/model
	Offline     bool          `json:"offline"`               // Model is the built-in one that is no language model
	Channels    []ChannelInfo `json:"channels"`              // what is connected and what is not
	Suggestions []string      `json:"suggestions,omitempty"` // first things to say, shown in an empty chat
	Session     sessions.Key  `json:"session,omitempty"`     // behind the chat that is asked about
	Settings    string        `json:"settings,omitempty"`    // that the session has of its own, in words: thinking high, sending off
}

// ChannelInfo is how one account of a channel is doing.
type ChannelInfo struct {
	Name   string         `json:"name"` // "telegram", "telegram/work"
	State  channels.State `json:"state"`
	Detail string         `json:"detail,omitempty"` // what is wrong and what to do
}

// Deps is what the page stands on.
type Deps struct {
	// Call does an operation of the host's API inside the process, as the principal of ctx: the views show and change nothing else.
	// in points to its parameters.
	Call func(ctx context.Context, name string, in any) (any, error)
	// History gives up to a few dozen lines of a chat, oldest first: the newest, or those before the line with the id before.
	// None at the beginning of the chat. A chat that is unknown, and a line that is unknown, have none. StoreHistory is one.
	History func(ctx context.Context, chat channels.ChatID, before string) ([]Line, error)
	Info    func(ctx context.Context) Info
	InfoOf  func(ctx context.Context, chat channels.ChatID) Info // the same, about one chat of the page; nil = Info, whichever chat it is
	Now     func() string                                        // the position in the host's events, as GET /api/events takes it in since; nil = there is none
	Chat    http.Handler                                         // webchat's Handler, made with RenderMarkdown; mounted at /api/chat/; nil = the web chat is switched off
	Logger  *slog.Logger                                         // nil = no log
}

//go:embed assets
var assetFiles embed.FS

//go:embed *.html
var pageFiles embed.FS

var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.ParseFS(pageFiles, "door.html"))
})

// assets are served under a path that contains the hash of all of them: a browser keeps them for ever, and a new host's page
// never meets an old script.
var assets = sync.OnceValue(func() struct {
	files fs.FS
	path  string
} {
	files, err := fs.Sub(assetFiles, "assets")
	if err != nil {
		panic(err) // embedded: cannot happen in a program that was built
	}
	sum := sha256.New()
	err = fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(files, p)
		sum.Write([]byte(p))
		sum.Write(b)
		return err
	})
	if err != nil {
		panic(err)
	}
	return struct {
		files fs.FS
		path  string
	}{files, "/static/" + hex.EncodeToString(sum.Sum(nil)[:6])}
})

type site struct {
	Deps
}

// New gives the page and its API. It checks no rights: put access.Door in front.
//
//	GET  /, /sessions, …                          the views (view.go)
//	GET  /static/…                                its assets
//	GET  /api/chat/history?chat=…&before=…&as=html  {"lines": [Line…]}
//	GET  /api/chat/info                           Info
//	POST /api/chat/messages, GET /api/chat/events  Deps.Chat
func New(d Deps) http.Handler {
	if d.Logger == nil {
		d.Logger = slog.New(slog.DiscardHandler)
	}
	if d.Now == nil {
		d.Now = func() string { return "" }
	}
	s := site{d}
	mux := http.NewServeMux()
	for _, v := range slices.Concat(views, hostViews) {
		s.mount(mux, v)
	}
	mux.HandleFunc("GET /static/", static)
	if d.Chat == nil {
		mux.HandleFunc("/api/chat/", func(w http.ResponseWriter, _ *http.Request) {
			api.WriteError(w, api.Refuse(http.StatusNotFound, switchedOff))
		})
	} else {
		mux.HandleFunc("GET /api/chat/history", s.history)
		mux.HandleFunc("GET /api/chat/info", s.info)
		mux.Handle("/api/chat/", http.StripPrefix("/api/chat", d.Chat))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.fail(w, r, api.Refuse(http.StatusNotFound, "There is nothing at this address."))
	})
	return mux
}

func static(w http.ResponseWriter, r *http.Request) {
	a := assets()
	if !strings.HasPrefix(r.URL.Path, a.path+"/") || strings.HasSuffix(r.URL.Path, "/") {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.StripPrefix(a.path, http.FileServerFS(a.files)).ServeHTTP(w, r)
}

const switchedOff = "The web chat of this host is switched off. To use it, set channels.webchat.enabled: true in the configuration and restart the host."

// chatView is what view_chat.html shows.
type chatView struct {
	Chat channels.ChatID
	Info Info
	Talk bool // who looks may talk here
}

func (s site) chat(r *http.Request) (any, error) {
	if s.Chat == nil {
		return nil, api.Refuse(http.StatusNotFound, switchedOff)
	}
	chat, ok := chatOf(r)
	if !ok {
		return nil, api.Bad("Invalid chat id.")
	}
	return chatView{chat, s.infoOf(r.Context(), chat), hasScope(r, api.Admin)}, nil
}

func (s site) infoOf(ctx context.Context, chat channels.ChatID) Info {
	if s.InfoOf == nil {
		return s.Info(ctx)
	}
	return s.InfoOf(ctx, chat)
}

func show(w http.ResponseWriter, status int, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = pages().ExecuteTemplate(w, name, data) // fails only when the client is gone
}

// chatOf gives the chat that a request is about.
func chatOf(r *http.Request) (channels.ChatID, bool) {
	chat := channels.ChatID(r.URL.Query().Get("chat"))
	if chat == "" {
		chat = webchat.DefaultChat
	}
	return chat, webchat.CheckChat(chat) == nil
}

func (s site) history(w http.ResponseWriter, r *http.Request) {
	chat, ok := chatOf(r)
	if !ok {
		api.WriteError(w, api.Bad("Invalid chat id."))
		return
	}
	lines, err := s.History(r.Context(), chat, r.URL.Query().Get("before"))
	if err != nil {
		if !errors.Is(err, context.Canceled) {
			s.Logger.Warn("cannot read the history of a web chat", "chat", string(chat), "error", err)
		}
		api.WriteError(w, api.Refuse(http.StatusServiceUnavailable, "The host could not read the history. Its log says why."))
		return
	}
	if lines == nil {
		lines = []Line{}
	}
	if r.URL.Query().Get("as") == "html" {
		rendered := make([]Line, len(lines))
		for i, l := range lines {
			if l.Role != User {
				l.HTML = RenderMarkdown(l.Text)
			}
			rendered[i] = l
		}
		lines = rendered
	}
	api.WriteJSON(w, http.StatusOK, struct {
		Lines []Line `json:"lines"`
	}{lines})
}

func (s site) info(w http.ResponseWriter, r *http.Request) {
	chat, ok := chatOf(r)
	if !ok {
		api.WriteError(w, api.Bad("Invalid chat id."))
		return
	}
	api.WriteJSON(w, http.StatusOK, s.infoOf(r.Context(), chat))
}
