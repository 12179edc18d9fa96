package admission

import (
	"context"

	"parley/channels"
	"parley/policy"
	"parley/router/settings"
	"parley/sessions"
)

// Admit asks the policy of the account whether this event may cause something.
func (c *Controller) Admit(ctx context.Context, set *settings.Snapshot, in channels.Inbound, s sessions.Session, owner, isCommand bool) (policy.Admission, error) {
	access := set.Accounts[settings.Ref(in.Address)].Access
	f := policy.FactsOf(in)
	f.Address = set.ConfigAddress(in.Address)
	f.Owner, f.Command, f.Activation = owner, isCommand, s.Settings.Activation
	f.Patterns = set.Mentions[s.Agent]
	a := access.Admit(f)
	if a.Outcome == policy.Admit || in.Address.Type != channels.Direct {
		return c.limitBots(ctx, set, in, s.Key, a)
	}
	var err error
	for _, id := range []channels.UserID{in.Sender.ID, in.Sender.Also} {
		if id == "" || f.Paired {
			continue
		}
		if f.Paired, err = c.store.Paired(ctx, in.Address.Channel, in.Address.Account, id); err != nil {
			return a, err
		}
	}
	if !f.Paired {
		return a, nil
	}
	return access.Admit(f), nil
}
