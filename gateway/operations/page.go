package operations

import (
	"net/http"
	"time"

	"parley/channels/webchat"
	"parley/gateway/api"
	"parley/gateway/web"
)

// The parameters and answers of the chat of the page. They are the page's and the terminal's; programs have chat.send and events.
type (
	pageChat struct {
		Chat string `query:"chat" jsonschema:"name of the conversation; default: the main one"`
	}
	pageEvents struct {
		pageChat
		As string `query:"as" enum:"html" jsonschema:"html: texts of agents as sanitized HTML"`
	}
	pageHistory struct {
		pageEvents
		Before string `query:"before" jsonschema:"lines before the one with this id"`
	}
	pagePost struct {
		pageChat
		ID   string `json:"id" jsonschema:"client id of the message; a second post with the same id is ignored"`
		Text string `json:"text" required:"true"`
	}
	pagePosted struct {
		ID   string    `json:"id"`
		Time time.Time `json:"time"`
	}
	pageLines struct {
		Lines []web.Line `json:"lines"`
	}
)

// Page are the requests of the chat on the page and in the terminal. Who writes there is the owner, so they need all that an owner may.
type Page struct{ site http.Handler }

// Table lists the operations.
func (o *Page) Table() api.Table {
	return api.Table{
		api.Stream[pagePost, pagePosted]("page.send", "POST /api/chat/messages", api.Admin, "Write in a chat of the page, as the owner.", "application/json", o.serve),
		api.Stream[pageEvents, webchat.Event]("page.events", "GET /api/chat/events", api.Admin, "Events of a chat of the page, as server-sent events.", "text/event-stream", closedParameters[pageEvents](o.serve)),
		api.Stream[pageHistory, pageLines]("page.history", "GET /api/chat/history", api.Admin, "The newest lines of a chat of the page.", "application/json", closedParameters[pageHistory](o.serve)),
		api.Stream[pageChat, web.Info]("page.info", "GET /api/chat/info", api.Admin, "Facts about the host for the page.", "application/json", closedParameters[pageChat](o.serve)),
	}
}

// closedParameters refuses parameters that are not known.
func closedParameters[In any](next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if _, err := api.Decode[In](w, r); err != nil {
			api.WriteError(w, err)
			return
		}
		next(w, r)
	}
}

// serve has the page answer.
func (o *Page) serve(w http.ResponseWriter, r *http.Request) { o.site.ServeHTTP(w, r) }
