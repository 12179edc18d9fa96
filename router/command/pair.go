package command

import (
	"context"
	"strings"
	"time"

	"parley/router/admission"
	"parley/sessions"
)

const pairUsage = "⚙️ Usage: /pair [list], /pair approve CODE, /pair reject CODE, /pair remove ID [account]"

// cmdPair lists the strangers who ask to be let in, on all accounts, and lets one in or not, and takes that back. The request ends in the same commit as the
// command, so a repeated one finds it gone.
func cmdPair(ctx context.Context, r *Table, c Call) (string, sessions.Effects, error) {
	words := strings.Fields(c.Arg)
	if len(words) == 0 || len(words) == 1 && strings.EqualFold(words[0], "list") {
		text, err := r.admission.ListPeople(ctx)
		return text, sessions.Effects{}, err
	}
	verb := strings.ToLower(words[0])
	if verb == "remove" && (len(words) == 2 || len(words) == 3) {
		return r.admission.UnpairNamed(ctx, words[1:])
	}
	if len(words) != 2 || verb != "approve" && verb != "reject" {
		return pairUsage, sessions.Effects{}, nil
	}
	p, found, err := r.admission.FindRequest(ctx, "", words[1])
	if err != nil {
		return "", sessions.Effects{}, err
	}
	if !found {
		return "⚙️ Nobody waits with this code: it may have expired or been used.", sessions.Effects{}, nil
	}
	now := time.Now()
	if verb == "reject" {
		return "⚙️ Turned down: " + admission.Stranger(p) + ".", sessions.Effects{Pairing: &sessions.Answer{Channel: p.Channel, Hash: p.Hash, Time: now}}, nil
	}
	return "⚙️ " + admission.Stranger(p) + " may write now.", admission.AdmitRequest(c.Set, p, now), nil
}
