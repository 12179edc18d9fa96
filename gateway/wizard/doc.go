// Package wizard writes a first configuration from a few answers, for `parley init`.
//
// It stands right of config, which checks what it writes, and of models and accounts, which it asks whether keys and tokens work. ask.go has the
// questions, write.go the files: the configuration, and .env beside it for secrets. A file that is there is never changed.
//
// Lock: of the wait for the owner's code (owner.go), a leaf. Goroutines: the reader of what is typed (input.go), and the account that waits for the
// code; the latter ends with its wait. ErrEnded says that the answers ended early; nothing was written then.
package wizard
