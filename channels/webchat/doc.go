// Package webchat is the channel of the chat page and of the terminal chat. There is no platform behind it: the host itself is
// the server, and the readers are its own page and command. It is a hub of direct chats, one for each chat id, and keeps
// nothing: what was said is read from the store, the hub only tells who is looking right now.
//
// It stands right of channels and imports nothing else of ours. A Channel takes what people post and streams Events to those who look;
// Handler serves both over HTTP.
//
// Owns, in memory: who looks at each chat, and the newest receipts. Its mutex is held for map work only. Run waits for the posts under way;
// a reader's goroutine is its request's. A reader that is too slow is cut off: it reads again from the store.
package webchat
