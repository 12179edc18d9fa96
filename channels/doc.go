// Package channels holds what parley knows about chat platforms in general: ids, addresses, the messages that come in and go out, the contract that
// an adapter fulfils, and the errors that it may return.
//
// It is the first package of the import line: it imports only pattern. An adapter is a Channel and whatever else it can do, each an interface of its
// own (Editor, Fetcher, Reporter, …), found by Probe. Beside the contract stand here what all adapters share: rendering of Markdown for a Dialect
// (render*.go; render_dialect.go has those of Telegram, Discord and WhatsApp), what keeps secrets out of logs and errors (Secret, Hide, Redact), the
// reading of foreign text (CleanText, Typed), gestures, holds and health.
//
// Owns: HealthHolder has the state of one connection, Holds the file of what a platform asked to wait. Their mutexes are for moments; the file is
// written under a lock of its own that no reader takes. No goroutine is started.
//
// Errors: Error, whose Class says whether a message arrived, may be sent again, or never will be; FieldError is of a configuration.
package channels
