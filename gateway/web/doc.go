// Package web is the host's page in a browser: the chat, the views of what the host does, their assets, and the history that they show.
//
// It stands right of api, whose operations it calls for its data, and is mounted by server behind the door of access. The page needs nothing from elsewhere: no build
// step, no other site. A view is a view_*.go with a view_*.html beside it; names.go has what sessions, chats and kinds are called; a state is shown as its
// value: assets/log.js says it in the chat, view_status.go in warnings, and the reason is the delivery's Error. markdown.go has what an agent's text becomes.
//
// It owns no state of the host: templates and assets are parsed once and do not change. It takes no lock and starts no goroutine; streams end with their request.
//
// Errors become pages with the same words as the API's (refusal.go).
package web
