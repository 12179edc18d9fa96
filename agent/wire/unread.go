package wire

import (
	"log/slog"
	"sync"
)

// The bounds of what is logged of answers that cannot be read.
const (
	maxUnread       = 200 // bytes of a part
	maxUnreadModels = 256 // models that are remembered as logged
)

// Unread logs, once for each model, that a part of an answer could not be read. The zero value is ready. Any goroutine may use it.
type Unread struct {
	mu     sync.Mutex
	models map[string]bool
}

// Log logs a part of a try's answer that was left out, unless one of the model's was logged before: its shape without texts, and at level
// debug its bytes, in which a text for people may be. model is provider/model, what says which part it is.
func (u *Unread) Log(t *Try, log *slog.Logger, model, what string, raw []byte) {
	u.mu.Lock()
	known := u.models[model]
	if !known {
		if u.models == nil || len(u.models) >= maxUnreadModels {
			u.models = make(map[string]bool)
		}
		u.models[model] = true
	}
	u.mu.Unlock()
	if known {
		return
	}
	said := []slog.Attr{slog.String("model", model), slog.String("what", what), slog.String("shape", t.Text(shape(raw)))}
	log.LogAttrs(t.parent, slog.LevelWarn, "left out an unreadable part of an answer", said...)
	log.LogAttrs(t.parent, slog.LevelDebug, "an unreadable part of an answer", append(said, slog.String("bytes", t.Text(string(raw[:min(len(raw), maxUnread)]))))...)
}
