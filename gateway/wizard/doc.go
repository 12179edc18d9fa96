// Package wizard writes a first configuration from a few answers, for `parley init`.
//
// It stands right of config, which checks what it writes, and of models and accounts, which it asks whether keys and tokens work. ask.go
// has the questions, write.go the files: the configuration, and .env beside it for secrets. A file that is there is never changed.
//
// It owns nothing, takes no lock and starts no goroutine. ErrEnded says that the answers ended early; nothing was written then.
package wizard
