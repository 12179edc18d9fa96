package whatsapp

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	waBinary "go.mau.fi/whatsmeow/binary"
	waLog "go.mau.fi/whatsmeow/util/log"
)

// libraryLog takes what whatsmeow logs. It is for debugging only: the adapter reports everything of importance itself. Stanzas are
// cut to their outside, byte strings to their length, and what says a QR code is dropped.
//
// The library tells its loggers of every stanza that comes and goes, pongs included, and says so nowhere else. That is how the
// adapter knows that the server is there, and that a message has left. It also tells them which connection it begins to read, and when
// it is done with what a connection brought.
type libraryLog struct {
	ctx      context.Context //nolint:containedctx // the library gives none
	log      *slog.Logger
	module   string
	received func(*waBinary.Node)
	sending  func(*waBinary.Node)
	handled  func()
	dials    *dials
	pump     *pump // of one connection: each has a logger of its own
}

// handlersOver is what the library logs once for each connection, last of all that it does for it.
const handlersOver = "Closing handler queue loop"

// Sub implements waLog.Logger.
func (l *libraryLog) Sub(module string) waLog.Logger {
	sub := *l
	if sub.module != "" {
		module = sub.module + "/" + module
	}
	sub.module, sub.pump = module, &pump{dials: l.dials}
	return &sub
}

// Debugf implements waLog.Logger.
func (l *libraryLog) Debugf(format string, args ...any) {
	switch l.module {
	case "Recv":
		tell(l.received, args)
		return
	case "Send":
		tell(l.sending, args)
		return
	case "Socket":
		l.pump.note(args)
	case "":
		if format == handlersOver && l.handled != nil {
			l.handled()
		}
	}
	l.write(format, args)
}

func tell(f func(*waBinary.Node), args []any) {
	if len(args) == 1 && f != nil {
		if n, ok := args[0].(*waBinary.Node); ok {
			f(n)
		}
	}
}

// Infof implements waLog.Logger.
func (l *libraryLog) Infof(format string, args ...any) { l.write(format, args) }

// Warnf implements waLog.Logger.
func (l *libraryLog) Warnf(format string, args ...any) { l.write(format, args) }

// Errorf implements waLog.Logger.
func (l *libraryLog) Errorf(format string, args ...any) { l.write(format, args) }

func (l *libraryLog) write(format string, args []any) {
	if !l.log.Enabled(l.ctx, slog.LevelDebug) || strings.Contains(l.module, "QR") || strings.Contains(format, " hex") {
		return
	}
	shown := make([]any, len(args))
	for i, a := range args {
		shown[i] = redact(a)
	}
	l.log.DebugContext(l.ctx, "whatsmeow", "module", l.module, "says", fmt.Sprintf(format, shown...))
}

func redact(a any) any {
	switch v := a.(type) {
	case *waBinary.Node:
		if v == nil {
			return nil
		}
		return fmt.Sprintf("<%s id=%v type=%v>", v.Tag, v.Attrs["id"], v.Attrs["type"])
	case waBinary.Node:
		return redact(&v)
	case []byte:
		return fmt.Sprintf("[%d bytes]", len(v))
	}
	return a
}
