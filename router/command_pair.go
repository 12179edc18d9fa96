package router

import (
	"context"
	"fmt"
	"strings"
	"time"

	"parley/sessions"
)

const pairUsage = "⚙️ Usage: /pair [list], /pair approve CODE, /pair reject CODE"

// cmdPair lists the strangers who ask to be let in, on all accounts, and lets one in or not. The request ends in the same commit as the
// command, so a repeated one finds it gone.
func cmdPair(ctx context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	words := strings.Fields(c.arg)
	if len(words) == 0 || len(words) == 1 && strings.EqualFold(words[0], "list") {
		text, err := r.pairList(ctx)
		return text, sessions.Effects{}, err
	}
	verb := strings.ToLower(words[0])
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

func (r *Router) pairList(ctx context.Context) (string, error) {
	now := time.Now()
	list, err := r.store.Pairings(ctx, now)
	if err != nil {
		return "", fmt.Errorf("listing who asks to be let in: %w", err)
	}
	if len(list) == 0 {
		return "⚙️ Nobody asks to be let in.", nil
	}
	var b strings.Builder
	b.WriteString("⚙️ These ask to be let in:\n")
	for _, p := range list {
		fmt.Fprintf(&b, "\n- %s, for another %s", stranger(p), plural(int((p.Expires.Sub(now)+time.Minute-1)/time.Minute), "minute"))
	}
	return b.String() + "\n\n/pair approve with the code that they were given lets one in.", nil
}

// stranger names somebody who asks to be let in.
func stranger(p sessions.Pairing) string {
	return fmt.Sprintf("%s, %s on account %s", code(p.Name, 100), code(string(p.Channel)+":"+string(p.User), 200), code(string(p.Account), 100))
}
