package command

import (
	"context"
	"strings"

	"parley/channels"
	"parley/policy"
	"parley/router/chain"
	"parley/router/turn"
	"parley/sessions"
)

// cmdNew starts the session over. What is running or waits in it ends as by /stop, and the answer says so. What stands behind the command
// is the name of a model, or the first message of the new session: the same commit has all of it.
func cmdNew(ctx context.Context, r *Table, c Call) (Result, error) {
	keys, open, err := r.stoppable(ctx, c)
	if err != nil {
		return Result{}, err
	}
	s, target := c.Session, &sessions.Target{Ops: []sessions.SessionOp{sessions.ResetSession{}}}
	change := &sessions.Change{Session: target, Ops: []sessions.Op{sessions.StopSessions{Keys: keys}}}
	if name, ok := r.modelForNew(c.Arg); ok {
		s.Settings.Model = name
		target.Ops = append(target.Ops, sessions.PatchSession{Model: &name})
	} else if c.Arg != "" || len(c.In.Media) > 0 {
		change.Run = &sessions.Enqueue{Run: *turn.NewRun(c.In, c.Session.Key, c.Session.Agent, c.Arg, turn.AllFiles(c.In), c.Owner)}
		change.Run.Run.Input.Provenance.Addressed = c.In.Address.Type.Several()
	}
	return Result{Text: strings.TrimSpace("✅ New session started · model: " + c.Set.ModelOf(s) + "\n" + strings.Join(chain.StoppedSentences(chain.Ended(open, r.leaving(open.Deliveries), keys...)), " ")), Change: change}, nil
}

// modelForNew finds the model that the word behind /new names, whole: a part of a name may as well be a word to the agent.
func (t *Table) modelForNew(arg string) (name string, ok bool) {
	if arg == "" || !oneWord(arg) {
		return "", false
	}
	if name, _ = t.modelNamed(arg); name == "" && strings.Contains(arg, "/") {
		name = arg
	}
	return name, name != "" && t.modelKnown(name) == nil
}

func cmdStop(ctx context.Context, r *Table, c Call) (Result, error) {
	keys, open, err := r.stoppable(ctx, c)
	if err != nil {
		return Result{}, err
	}
	return Result{Text: chain.StopAnswer(chain.Ended(open, r.leaving(open.Deliveries), keys...)), Change: &sessions.Change{Ops: []sessions.Op{sessions.StopSessions{Keys: keys}}}}, nil
}

// stoppable finds what /stop and /new in a chat end, and the sessions that it belongs to.
func (t *Table) stoppable(ctx context.Context, c Call) (keys []sessions.Key, open sessions.Stoppable, err error) {
	if keys, err = t.stopKeys(ctx, c.Session.Key, c.In.Address); err == nil {
		open, err = t.store.Stoppable(ctx, keys...)
	}
	return keys, open, err
}

// stopKeys are the sessions that /stop in a chat of one ends: itself, and those of the scheduled jobs that it made, or that post there, and that
// are running.
func (t *Table) stopKeys(ctx context.Context, key sessions.Key, chat channels.Address) ([]sessions.Key, error) {
	jobs, err := t.cron.KeysAtWork(ctx, key, chat)
	return append([]sessions.Key{key}, jobs...), err
}

func cmdSend(_ context.Context, _ *Table, c Call) (Result, error) {
	var to policy.Override
	word := strings.ToLower(c.Arg)
	switch word {
	case "on", "allow":
		word, to = "on", policy.Allow
	case "off", "deny":
		word, to = "off", policy.Deny
	case "inherit", "default", "reset":
		word, to = "inherit", policy.Inherit
	default:
		return Result{Text: "⚙️ Usage: /send on|off|inherit"}, nil
	}
	return Result{Text: "⚙️ Send policy set to " + word + ".", Change: onSession(sessions.PatchSession{SendPolicy: &to})}, nil
}
