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
func cmdPair(ctx context.Context, r *Table, c Call) (Result, error) {
	words := strings.Fields(c.Arg)
	if len(words) == 0 || len(words) == 1 && strings.EqualFold(words[0], "list") {
		text, err := r.admission.ListPeople(ctx)
		return Result{Text: text}, err
	}
	verb := strings.ToLower(words[0])
	if verb == "remove" && (len(words) == 2 || len(words) == 3) {
		text, change, err := r.admission.UnpairNamed(ctx, words[1:])
		return Result{Text: text, Change: change}, err
	}
	if len(words) != 2 || verb != "approve" && verb != "reject" {
		return Result{Text: pairUsage}, nil
	}
	p, found, err := r.admission.FindRequest(ctx, "", words[1])
	if err != nil {
		return Result{}, err
	}
	if !found {
		return Result{Text: "⚙️ There is no request with this code: it may have expired or been used. `/pair list` shows the open requests."}, nil
	}
	now := time.Now()
	if verb == "reject" {
		return Result{Text: "⚙️ Rejected: " + admission.Stranger(p) + ".", Change: &sessions.Change{Ops: []sessions.Op{sessions.DecidePairing{Channel: p.Channel, Hash: p.Hash, Time: now}}}}, nil
	}
	a, err := r.admission.Foresee(ctx, c.Set, p)
	change := admission.AdmitRequest(c.Set, p, sessions.FirstOwner, now)
	return Result{Text: "⚙️ " + admission.Stranger(p) + " may write now." + a.AboutOwner(), Change: &change}, err
}
