package router

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/channels"
	"parley/sessions"
)

const pairUsage = "⚙️ Usage: /pair [list], /pair approve CODE, /pair reject CODE, /pair remove ID [account]"

// cmdPair lists the strangers who ask to be let in, on all accounts, and lets one in or not, and takes that back. The request ends in the same commit as the
// command, so a repeated one finds it gone.
func cmdPair(ctx context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	words := strings.Fields(c.arg)
	if len(words) == 0 || len(words) == 1 && strings.EqualFold(words[0], "list") {
		text, err := r.pairList(ctx)
		return text, sessions.Effects{}, err
	}
	verb := strings.ToLower(words[0])
	if verb == "remove" && (len(words) == 2 || len(words) == 3) {
		return r.unpair(ctx, words[1:])
	}
	if len(words) != 2 || verb != "approve" && verb != "reject" {
		return pairUsage, sessions.Effects{}, nil
	}
	p, found, err := r.asking(ctx, "", words[1])
	if err != nil {
		return "", sessions.Effects{}, err
	}
	if !found {
		return "⚙️ Nobody waits with this code: it may have expired or been used.", sessions.Effects{}, nil
	}
	now := time.Now()
	if verb == "reject" {
		return "⚙️ Turned down: " + stranger(p) + ".", sessions.Effects{Pairing: &sessions.Answer{Channel: p.Channel, Hash: p.Hash, Time: now}}, nil
	}
	return "⚙️ " + stranger(p) + " may write now.", letIn(c.set, p, now), nil
}

// stranger names somebody who asks to be let in.
func stranger(p sessions.Pairing) string {
	return byID(p.Name, p.Channel, p.Account, p.User)
}

func byID(name string, kind channels.Kind, account channels.AccountID, user channels.UserID) string {
	words := fmt.Sprintf("%s on account %s", channels.Code(string(kind)+":"+string(user), 200), channels.Code(string(account), 100))
	if name == "" {
		return words
	}
	return channels.Code(name, 100) + ", " + words
}
