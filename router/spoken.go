package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/sessions"
)

// The bounds of what a message says about another one.
const (
	maxQuote  = 4 << 10 // bytes of the words that it answers to
	maxOrigin = 200     // bytes of who wrote what is forwarded
	quoteBack = 100     // messages of the transcript in which a quoted file is looked for
)

// spoken is the text as the model reads it: with the sender's name where several people talk, with what it answers to, with the
// files that came along.
func spoken(in channels.Inbound, text string) string {
	name := ""
	if in.Address.Type.Several() {
		if name = channels.Speaker(in.Sender); name != "" {
			name += ": "
		}
	}
	return strings.TrimSpace(quoted(in.Quote) + name + withFiles(channels.TypedQuotes(text), in.Media))
}

// quoted gives the message that another one answers to as a block quote with an empty line behind it: its author, its origin when it was
// forwarded itself, its words, and its files by name. "" when nothing is known of it.
func quoted(q *channels.Quote) string {
	if q == nil {
		return ""
	}
	said := withNames(strings.TrimSpace(channels.CutText(q.Text, maxQuote)), q.Media)
	if said == "" {
		return ""
	}
	who := ""
	switch {
	case q.FromBot:
		who = "You"
	case q.Sender != "":
		who = channels.Speaker(channels.Sender{Name: channels.CutText(q.Sender, maxOrigin), ID: q.By})
	}
	if from := originName(q.Origin); from != "" {
		who = strings.TrimSpace(who + " (forwarded from " + from + ")")
	}
	if who != "" {
		said = who + ": " + said
	}
	return "> " + strings.ReplaceAll(said, "\n", "\n> ") + "\n\n"
}

// originName is who wrote what is forwarded: one line, bounded.
func originName(origin string) string { return channels.OneLine(channels.CutText(origin, maxOrigin)) }

// fileName names a file of another message in words: [picture], [file q3.pdf], [voice message, 14s].
func fileName(m channels.Media) string {
	kind := "file"
	switch m.Kind {
	case channels.Image:
		kind = "picture"
	case channels.Video, channels.Sticker, channels.Audio:
		kind = string(m.Kind)
	case channels.Document:
	}
	if m.Voice {
		kind = "voice message"
	}
	if name := sessions.FileName(m.Name); name != "" && !m.Voice {
		kind += " " + name
	}
	return "[" + kind + length(m) + "]"
}

// length words how long a file plays; "" when that is not known.
func length(m channels.Media) string {
	if m.Seconds <= 0 {
		return ""
	}
	return ", " + (time.Duration(m.Seconds) * time.Second).String()
}

// withFiles names the files that came with a text behind it.
func withFiles(text string, files []channels.Media) string {
	var b strings.Builder
	b.WriteString(text)
	for _, m := range files {
		what := string(m.Kind)
		if m.Voice {
			what += " voice message"
		}
		fmt.Fprintf(&b, "\n<media:%s%s>", what, length(m))
	}
	return strings.TrimSpace(b.String())
}

// filesOf gives the files of a message, and behind them those of the message that it answers to which the session's transcript does not
// have yet: a picture that was posted before nobody asked about it is a file of the turn that does.
func (r *Router) filesOf(ctx context.Context, s sessions.Session, in channels.Inbound) ([]channels.Media, error) {
	if len(allFiles(in)) == len(in.Media) {
		return in.Media, nil
	}
	known := make(map[string]bool)
	note := func(msgs ...sessions.Message) {
		for _, m := range msgs {
			for _, b := range m.Content {
				if b.Media != nil {
					known[b.Media.Ref] = true
				}
			}
		}
	}
	asked, waits, err := r.store.Asked(ctx, in.Address, in.Quote.ID)
	if err != nil {
		return nil, fmt.Errorf("looking for the quoted message: %w", err)
	}
	if waits && asked.Session == s.ID && !asked.Status.Final() { // it may be in no transcript yet
		note(asked.Input)
	}
	if s.ID != "" {
		msgs, err := r.store.Tail(ctx, s.ID, sessions.TailQuery{Limit: quoteBack, IncludeTool: true})
		if err != nil && !errors.Is(err, sessions.ErrNotFound) {
			return nil, fmt.Errorf("reading the transcript: %w", err)
		}
		note(msgs...)
	}
	note(sessions.Message{Content: mediaBlocks(in.Media)})
	in.Quote = &channels.Quote{Media: slices.DeleteFunc(slices.Clone(in.Quote.Media), func(m channels.Media) bool { return known[m.Ref] })}
	return allFiles(in), nil
}

// allFiles gives the files of a message, and behind them those of the message that it answers to. A quoted file without a reference is named
// only: it cannot be fetched.
func allFiles(in channels.Inbound) []channels.Media {
	files := slices.Clone(in.Media)
	if in.Quote != nil {
		for _, m := range ofOther(in.Quote.Media) {
			if m.Ref != "" {
				files = append(files, m)
			}
		}
	}
	return files
}

// ofOther marks files as those of another message.
func ofOther(files []channels.Media) []channels.Media {
	files = slices.Clone(files)
	for i := range files {
		files[i].Other = true
	}
	return files
}

// withNames gives a text that stands apart from its files with their names in words behind it.
func withNames(text string, files []channels.Media) string {
	for _, m := range files[:min(len(files), mediaMost)] {
		text += "\n" + fileName(m)
	}
	return strings.TrimSpace(text)
}
