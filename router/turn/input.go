package turn

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"parley/channels"
	"parley/router/filestore"
	"parley/sessions"
	"parley/tools"
)

// NewRun returns the run that answers a message in a session.
func NewRun(in channels.Inbound, key sessions.Key, agentID sessions.AgentID, text string, files []channels.Media, owner bool) *sessions.Run {
	id := sessions.RunID(uuid.NewString())
	run := &sessions.Run{ID: id, Kind: sessions.TurnRun, Key: key, Agent: agentID, Reply: in.Address, Source: string(in.ID), Input: sessions.Message{
		ID: uuid.NewString(), Role: sessions.User, Content: append(sessions.TextContent(Spoken(in, text)), MediaBlocks(files)...), Time: in.Time, Run: id,
		Provenance: &sessions.Provenance{Kind: sessions.ExternalUser, Sender: string(in.Sender.ID), Name: cmp.Or(in.Sender.Name, in.Sender.Username),
			User: in.Sender.Username, Bot: in.Sender.Bot, Owner: owner, Forwarded: in.Forwarded, More: in.More, Album: in.Album, Origin: OriginName(in.Origin), Address: in.Address, Channel: in.Address.Channel, Message: string(in.ID)}}}
	if in.Address.Type.Several() {
		run.ReplyTo = in.ID
		if key.Kind() != sessions.KindGroup {
			run.Input.Provenance.Title = cmp.Or(channels.TitleOf(in), string(in.Address.Chat))
		}
	}
	return run
}

// MaxMedia bounds the files of one message that are kept.
const MaxMedia = 32

// MediaBlocks gives the files of a message as blocks that say where they are: pictures are fetched when a model is to see them, others
// when it asks for them.
func MediaBlocks(files []channels.Media) (out []sessions.Block) {
	for _, m := range files[:min(len(files), MaxMedia)] {
		if m.Ref == "" {
			continue
		}
		b := sessions.Block{Type: sessions.FileBlock, ID: tools.NewFileID(), Media: &m}
		if m.Kind == channels.Image || m.Kind == channels.Document && filestore.IsPicture(m.MIME) {
			b.Type, b.MIME = sessions.ImageBlock, m.MIME
		}
		m.Name = sessions.FileName(m.Name)
		out = append(out, b)
	}
	return out
}

// The bounds of what a message says about another one.
const (
	MaxQuote  = 4 << 10 // bytes of the words that it answers to
	maxOrigin = 200     // bytes of who wrote what is forwarded
)

// Spoken is the text as the model reads it: with the sender's name where several people talk, with what it answers to, with the
// files that came along.
func Spoken(in channels.Inbound, text string) string {
	text = channels.TypedQuotes(text)
	name := ""
	if in.Address.Type.Several() {
		if name = channels.Speaker(in.Sender); name != "" {
			name, text = name+": ", channels.BehindSpeaker(text)
		}
	}
	return strings.TrimSpace(Quoted(in.Quote) + name + WithFiles(text, in.Media))
}

// Quoted gives the message that another one answers to as a block quote with an empty line behind it: its author, its origin when it was
// forwarded itself, its words, and its files by name. "" when nothing is known of it.
func Quoted(q *channels.Quote) string {
	if q == nil {
		return ""
	}
	said := WithNames(channels.BehindSpeaker(channels.TypedQuotes(strings.TrimSpace(channels.CutText(q.Text, MaxQuote)))), q.Media)
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
	if from := OriginName(q.Origin); from != "" {
		who = strings.TrimSpace(who + " (forwarded from " + from + ")")
	}
	if who != "" {
		said = who + ": " + said
	}
	return "> " + strings.ReplaceAll(said, "\n", "\n> ") + "\n\n"
}

// OriginName returns the author of a forwarded message: one line, bounded.
func OriginName(origin string) string { return channels.OneLine(channels.CutText(origin, maxOrigin)) }

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

// WithFiles names the files that came with a text behind it.
func WithFiles(text string, files []channels.Media) string {
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

// AllFiles gives the files of a message, and behind them those of the message that it answers to, also when the transcript has them already:
// only that says which of several pictures is meant. A quoted file without a reference is named only: it cannot be fetched.
func AllFiles(in channels.Inbound) []channels.Media {
	files := slices.Clone(in.Media)
	if in.Quote != nil {
		for _, m := range OfOther(in.Quote.Media, authorOf(in.Quote)) {
			if m.Ref != "" && !slices.ContainsFunc(in.Media, func(own channels.Media) bool { return own.Ref == m.Ref }) {
				files = append(files, m)
			}
		}
	}
	return files
}

// authorOf names the author of the files of a quoted message: who passed it on, and its origin, when it was forwarded.
func authorOf(q *channels.Quote) string {
	switch who := channels.OneLine(channels.CutText(q.Sender, maxOrigin)); {
	case q.FromBot:
		return "you"
	case q.Origin != "":
		return strings.TrimSpace(who + " (forwarded from " + OriginName(q.Origin) + ")")
	default:
		return who
	}
}

// OfOther marks files as those of another message, which its sender wrote.
func OfOther(files []channels.Media, sender string) []channels.Media {
	files = slices.Clone(files)
	for i := range files {
		files[i].Other, files[i].From = true, sender
	}
	return files
}

// WithNames gives a text that stands apart from its files with their names in words behind it.
func WithNames(text string, files []channels.Media) string {
	for _, m := range files[:min(len(files), MaxMedia)] {
		text += "\n" + fileName(m)
	}
	return strings.TrimSpace(text)
}
