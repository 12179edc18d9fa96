// Package chatclient is the chat in a terminal: `parley chat`. It talks to a running host over its HTTP API, so it works from another machine as well.
//
// It stands right of api and web, whose types it reads; nothing of a host runs in this process. client.go calls the host, stream.go follows its events, lines.go is the
// mode without a terminal, screen.go and input.go the one with it.
//
// It owns the draft and the position in the session. Goroutines read the keyboard and the stream, and post what was typed; all end with the context of Run. session.mu
// guards what the stream and the screen both read; it is a leaf.
//
// Errors: ErrNoHost, ErrToken, and what the host says of a request.
package chatclient
