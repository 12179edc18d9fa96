package router

import (
	"context"
	"fmt"
	"strings"

	"parley/policy"
	"parley/sessions"
)

// cmdNew starts the session over. What stands behind it is the name of a model, or the first message of the new session: the same
// commit has all of it.
func cmdNew(_ context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	s, e := c.session, sessions.Effects{Stop: []sessions.Key{c.session.Key}, Reset: true}
	if name, ok := r.modelForNew(c.arg); ok {
		s.Settings.Model, e.Patch = name, &sessions.Patch{Model: &name}
	} else if c.arg != "" || len(c.in.Media) > 0 {
		e.Run = newRun(c.in, c.session.Key, c.session.Agent, c.arg, c.owner)
	}
	return "✅ New session started · model: " + c.set.ModelOf(s), e, nil
}

// modelForNew finds the model that the word behind /new names, whole: a part of a name may as well be a word to the agent.
func (r *Router) modelForNew(arg string) (name string, ok bool) {
	if arg == "" || !oneWord(arg) {
		return "", false
	}
	if name, _ = r.modelNamed(arg); name == "" && strings.Contains(arg, "/") {
		name = arg
	}
	return name, name != "" && r.ModelKnown(name) == nil
}

func cmdStop(ctx context.Context, r *Router, c commandCall) (string, sessions.Effects, error) {
	own, err := r.stoppable(ctx, sessions.RunQuery{Key: c.session.Key})
	if err != nil {
		return "", sessions.Effects{}, err
	}
	below, err := r.workingBelow(ctx, c.session)
	if err != nil {
		return "", sessions.Effects{}, err
	}
	jobs, err := r.jobsAtWork(ctx, c.session.Key)
	if err != nil {
		return "", sessions.Effects{}, err
	}
	var did []string
	if len(own) > 0 {
		did = append(did, "Agent was aborted.")
	}
	if len(own) > 1 {
		did = append(did, fmt.Sprintf("%d messages that waited are dropped.", len(own)-1))
	}
	if len(below) > 0 {
		did = append(did, stoppedWords(len(below)))
	}
	if len(jobs) > 0 {
		did = append(did, fmt.Sprintf("Stopped %d scheduled job(s).", len(jobs)))
	}
	if len(did) == 0 {
		did = []string{"Nothing is running here."}
	}
	return "⚙️ " + strings.Join(did, " "), sessions.Effects{Stop: append([]sessions.Key{c.session.Key}, jobs...)}, nil
}

func cmdSend(_ context.Context, _ *Router, c commandCall) (string, sessions.Effects, error) {
	var to policy.Override
	word := strings.ToLower(c.arg)
	switch word {
	case "on", "allow":
		word, to = "on", policy.Allow
	case "off", "deny":
		word, to = "off", policy.Deny
	case "inherit", "default", "reset":
		word, to = "inherit", policy.Inherit
	default:
		return "⚙️ Usage: /send on|off|inherit", sessions.Effects{}, nil
	}
	return "⚙️ Send policy set to " + word + ".", sessions.Effects{Patch: &sessions.Patch{SendPolicy: &to}}, nil
}
