package admission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parley/channels"
	"parley/sessions"
)

// Stranger names a person who asks to be let in.
func Stranger(p sessions.Pairing) string {
	return byID(p.Name, p.Channel, p.Account, p.User)
}

func byID(name string, kind channels.Kind, account channels.AccountID, user channels.UserID) string {
	words := fmt.Sprintf("%s on account %s", channels.Code(string(kind)+":"+string(user), 200), channels.Code(string(account), 100))
	if name == "" {
		return words
	}
	return channels.Code(name, 100) + ", " + words
}

// maxPeopleShown is how many of those who were let in a chat is told: the newest.
const maxPeopleShown = 50

// ListPeople returns the pairing requests, the rejected people and the approved people, as text for a chat.
func (c *Controller) ListPeople(ctx context.Context) (string, error) {
	now := time.Now()
	asking, err := c.store.Pairings(ctx, now)
	if err != nil {
		return "", fmt.Errorf("list pairing requests: %w", err)
	}
	people, err := c.store.Admitted(ctx)
	if err != nil {
		return "", fmt.Errorf("list approved people: %w", err)
	}
	var waiting, rejected, in strings.Builder
	for _, p := range asking {
		left := p.Expires.Sub(now)
		if p.Rejected {
			fmt.Fprintf(&rejected, "\n- %s, for another %s", Stranger(p), channels.Plural(int((left+time.Hour-1)/time.Hour), "hour"))
		} else {
			fmt.Fprintf(&waiting, "\n- %s, for another %s", Stranger(p), channels.Plural(int((left+time.Minute-1)/time.Minute), "minute"))
		}
	}
	for _, p := range people[max(0, len(people)-maxPeopleShown):] {
		fmt.Fprintf(&in, "\n- %s, since %s", byID(p.Name, p.Channel, p.Account, p.User), p.Since.Format(time.DateOnly))
		if p.Owner {
			in.WriteString(", an owner")
		}
	}
	text := "⚙️ There are no pairing requests."
	if waiting.Len() > 0 {
		text = "⚙️ Pairing requests:\n" + waiting.String() + "\n\nTo approve a request, send /pair approve with the person's code."
	}
	if rejected.Len() > 0 {
		text += "\n\nRejected people, who get no new code yet:\n" + rejected.String()
	}
	if in.Len() > 0 {
		title := "Approved people:"
		if len(people) > maxPeopleShown {
			title = fmt.Sprintf("Approved people, the last %d of %d:", maxPeopleShown, len(people))
		}
		text += "\n\n" + title + "\n" + in.String()
	}
	if rejected.Len()+in.Len() > 0 {
		text += "\n\nTo undo a decision, send /pair remove with the id."
	}
	return text, nil
}

// UnpairNamed removes the decision on an approved or rejected person. words are the id, with or without its channel, and an optional account.
func (c *Controller) UnpairNamed(ctx context.Context, words []string) (string, *sessions.Change, error) {
	people, err := c.decided(ctx, func(p sessions.Admitted) bool {
		named := func(id channels.UserID) bool {
			return id != "" && (words[0] == string(id) || strings.EqualFold(words[0], string(p.Channel)+":"+string(id)))
		}
		return (named(p.User) || named(c.settings().Moved.Also(p.Channel, p.User))) && (len(words) == 1 || words[1] == string(p.Account))
	})
	if err != nil {
		return "", nil, err
	}
	switch len(people) {
	case 0:
		return "⚙️ No person with this id was approved or rejected; /pair list shows those people. To remove a person of the configuration, change the configuration.", nil, nil
	case 1:
		p := people[0]
		remains, err := c.remainsOwner(ctx, p)
		text := "⚙️ Decision removed: " + byID(p.Name, p.Channel, p.Account, p.User) + "."
		if remains {
			text += sessions.StillOwner
		}
		return text, &sessions.Change{Ops: []sessions.Op{sessions.RevokePairing{Channel: p.Channel, Account: p.Account, User: p.User}}}, err
	}
	var b strings.Builder
	b.WriteString("⚙️ Several people have this id. Choose one with its channel and account:\n")
	for _, p := range people {
		fmt.Fprintf(&b, "\n- %s", channels.Code(fmt.Sprintf("/pair remove %s:%s %s", p.Channel, p.User, p.Account), 300))
	}
	return b.String(), nil, nil
}

// remainsOwner reports whether a person is an owner without this admission: by the configuration, or by another account.
func (c *Controller) remainsOwner(ctx context.Context, x sessions.Admitted) (bool, error) {
	people, err := c.store.Admitted(ctx)
	people = slices.DeleteFunc(people, func(p sessions.Admitted) bool {
		return p.Channel == x.Channel && p.Account == x.Account && p.User == x.User
	})
	set := c.settings().WithGranted(people)
	return set.Owners.Is(x.Channel, set.Person(x.Channel, channels.Sender{ID: x.User})), err
}

// decided returns the people who were let in or turned down, and for whom is reports true.
func (c *Controller) decided(ctx context.Context, is func(sessions.Admitted) bool) ([]sessions.Admitted, error) {
	asking, err := c.store.Pairings(ctx, time.Now())
	if err != nil {
		return nil, err
	}
	people, err := c.store.Admitted(ctx)
	for _, p := range asking {
		if p.Rejected {
			people = append(people, sessions.Admitted{Channel: p.Channel, Account: p.Account, User: p.User, Name: p.Name})
		}
	}
	return slices.DeleteFunc(people, func(p sessions.Admitted) bool { return !is(p) }), err
}

// Unpair takes back the decision on a person who was let in or turned down, on the only account where they were when account is empty; ErrNotFound
// when neither was done. Owner of the result says whether the person is an owner all the same.
func (c *Controller) Unpair(ctx context.Context, kind channels.Kind, account channels.AccountID, user channels.UserID) (sessions.Admitted, error) {
	people, err := c.decided(ctx, func(p sessions.Admitted) bool {
		return p.Channel == kind && (p.User == user || user != "" && c.settings().Moved.Also(kind, p.User) == user) && (account == "" || p.Account == account)
	})
	who := sessions.Admitted{Channel: kind, Account: account, User: user}
	switch {
	case err != nil:
		return who, err
	case len(people) == 1:
		who, user = people[0], people[0].User
	case len(people) > 1:
		return who, fmt.Errorf("%w: %s:%s is known on several accounts; name one of them: parley pairing list", sessions.ErrConflict, kind, user)
	case letInBy(c.settings(), kind, user) != "":
		return who, sessions.WithText(sessions.ErrNotFound, "%s:%s was not let in by a code but by %s: remove the entry from the configuration and run parley reload", kind, user, letInBy(c.settings(), kind, user))
	case account == "":
		who.Account = channels.DefaultAccount // the store says so in words
	}
	if _, err = c.commit.Submit(ctx, sessions.Change{Ops: []sessions.Op{sessions.RevokePairing{Channel: kind, Account: who.Account, User: user}}}); err != nil {
		return who, err
	}
	set := c.settings() // with the owners that are left
	who.Owner = set.Owners.Is(kind, set.Person(kind, channels.Sender{ID: user}))
	return who, nil
}
