package command

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"parley/channels"
	"parley/sessions"
)

// IsStop reports whether a message is nothing but a word that asks to stop, and something is running, queued or being sent for the session or
// below it; own says that it is the sender's own request, or that an owner says so: then it is meant for the bot without a mention.
func (t *Table) IsStop(ctx context.Context, s sessions.Session, in channels.Inbound, text string, owner bool) (stop, own bool, err error) {
	if !MayStop(in) || !t.settings().IsStopWord(text) {
		return false, false, nil
	}
	keys, err := t.stopKeys(ctx, s.Key, in.Address)
	if err != nil {
		return false, false, err
	}
	open, err := t.store.Stoppable(ctx, keys...)
	if err != nil || len(open.Runs)+len(open.Deliveries) == 0 {
		return false, false, err
	}
	asked := func(run sessions.Run) bool {
		p := run.Input.Provenance
		return p != nil && p.Sender == string(in.Sender.ID) || run.Chain != nil && slices.ContainsFunc(run.Chain.People, func(p sessions.Person) bool { return p.ID == in.Sender.ID && p.Channel == in.Address.Channel })
	}
	own = owner || slices.ContainsFunc(open.Runs, asked)
	for _, d := range open.Deliveries {
		if own {
			break
		}
		if run, err := t.store.GetRun(ctx, d.Run); err == nil { // else it is deleted, and nobody's
			own = asked(run)
		}
	}
	return true, own, nil
}

// MayStop reports whether the words of a message may be a person's request to stop.
func MayStop(in channels.Inbound) bool {
	return !in.Forwarded && !in.Sender.Bot && len(in.Media) == 0
}

// cutStop finds /stop at the beginning of a text, whatever stands behind it. Another bot's name makes it another bot's command.
func cutStop(text string) (rest string, ok bool) {
	text = strings.TrimSpace(text)
	if len(text) < len("/stop") || !strings.EqualFold(text[:len("/stop")], "/stop") {
		return "", false
	}
	rest = text[len("/stop"):]
	if next := []rune(rest); len(next) > 0 && (next[0] == '@' || next[0] == '_' || next[0] == '-' || next[0] == '/' || unicode.IsLetter(next[0]) || unicode.IsNumber(next[0])) {
		return "", false
	}
	return strings.TrimSpace(rest), true
}
