package rights

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"parley/channels"
	"parley/sessions"
)

// MergedRuns gives the runs whose messages a run answers as well: of one that it interrupted also what that had merged.
func (r *Resolver) MergedRuns(ctx context.Context, id sessions.RunID) (out []sessions.Run, err error) {
	in := []sessions.RunID{id}
	for i := 0; i < len(in); i++ {
		runs, err := r.store.ListRuns(ctx, sessions.RunQuery{MergedInto: in[i], Limit: sessions.MaxListed})
		if err != nil {
			return nil, err
		}
		for _, run := range runs {
			if !slices.Contains(in, run.ID) {
				in, out = append(in, run.ID), append(out, run)
			}
		}
	}
	return out, nil
}

// inPlaceOf gives the messages whose turns ended with this one as their batch: also those of a turn that it interrupted, which
// nobody has answered. In a chat of two they are of the same person.
func (r *Resolver) inPlaceOf(ctx context.Context, run sessions.Run) (out []sessions.Message, err error) {
	if run.Kind != sessions.TurnRun || !run.Reply.Type.Several() {
		return nil, nil
	}
	runs, err := r.MergedRuns(ctx, run.ID)
	for _, b := range runs {
		out = append(out, b.Input)
	}
	return out, err
}

// Requesters are the people whom a turn answers. They decide which tools it may use: an unknown sender is never an owner.
type Requesters struct {
	Owner  bool              // all of them are owners
	People []sessions.Person // sorted
}

// Add says that a turn answers further messages.
func (a *Requesters) Add(msgs ...sessions.Message) {
	for _, m := range msgs {
		p := m.Provenance
		if a.Owner = a.Owner && p != nil && p.Owner; p == nil {
			continue
		}
		if a.Join(p.People); p.Sender != "" {
			a.Join([]sessions.Person{{Channel: p.Address.Channel, ID: channels.UserID(p.Sender), User: p.User}})
		}
	}
}

// Join adds people, each once.
func (a *Requesters) Join(people []sessions.Person) {
	a.People = append(slices.Clip(a.People), people...)
	slices.SortFunc(a.People, func(x, y sessions.Person) int {
		return cmp.Or(cmp.Compare(x.Channel, y.Channel), cmp.Compare(x.ID, y.ID), cmp.Compare(x.User, y.User))
	})
	a.People = slices.Compact(a.People)
}

// on gives those of one channel, as the policy knows them.
func (a *Requesters) on(kind channels.Kind) (out []channels.Sender) {
	for _, p := range a.People {
		if p.Channel == kind {
			out = append(out, channels.Sender{ID: p.ID, Username: p.User})
		}
	}
	return out
}

// Lineage says where a run is and comes from, and whom it answers; more are the messages that it has merged. What another session
// asks is held to where that one's turn was. A sub-agent's turn is held to what the turns were that started it and those above it, also
// when another session asks it something (contract N7).
// Who was an owner when they asked, and is none now, has no rights of one.
func (r *Resolver) Lineage(ctx context.Context, s sessions.Session, run sessions.Run, more ...sessions.Message) (a Requesters, from []sessions.Place, err error) {
	defer func() { a.Owner = a.Owner && !slices.ContainsFunc(a.People, r.formerOwner) }()
	if c := run.Chain; c != nil {
		a.Owner = c.Owner
		a.Join(c.People)
	} else {
		a.Owner = true
		a.Add(run.Input)
	}
	a.Add(more...)
	inPlace, err := r.inPlaceOf(ctx, run)
	if err != nil {
		return a, nil, err
	}
	a.Add(inPlace...)
	if !sessions.IsSubagent(s.Key) {
		return a, Origins([]sessions.Place{sessions.OriginOf(s, run)}, run.Chain), nil
	}
	from = Origins(nil, run.Chain)
	c := run.Chain
	if run.Kind != sessions.ChildRun || c == nil {
		task, err := r.NewestTask(ctx, s.Key)
		if err != nil {
			return a, nil, err
		}
		if c = task.Chain; c == nil {
			a.Owner = false
		} else {
			a.Owner = a.Owner && c.Owner
			a.Join(c.People)
		}
	}
	for ; c != nil; c = c.Parent {
		if !c.From.IsZero() {
			from = append(from, sessions.Place{Chat: c.From, Session: c.Requester})
		}
		from = Origins(from, c)
	}
	return a, from, nil
}

// formerOwner reports whether a person who was an owner is none now. A token of the API has no channel, and keeps its scope.
func (r *Resolver) formerOwner(p sessions.Person) bool {
	set := r.settings()
	return p.Channel != "" && !set.Owners.Is(p.Channel, set.Person(p.Channel, channels.Sender{ID: p.ID, Username: p.User}))
}

// Origins adds to where a run is what its chain comes from.
func Origins(from []sessions.Place, c *sessions.Chain) []sessions.Place {
	if c == nil {
		return from
	}
	for _, p := range c.Places {
		if !slices.Contains(from, p) {
			from = append(from, p)
		}
	}
	return from
}

// StampOrigin says in a chain which turn begins it, as far as the rights of its steps depend on that.
func (r *Resolver) StampOrigin(ctx context.Context, s sessions.Session, run sessions.Run, c *sessions.Chain) error {
	who, err := r.Requesters(ctx, s, run)
	if err != nil {
		return err
	}
	_, from, err := r.Lineage(ctx, s, run)
	c.Owner, c.People, c.Asker = who.Owner, who.People, askerAmong(r.settings(), who, s.Key, &run)
	c.Places = slices.DeleteFunc(from, func(p sessions.Place) bool { return p.Chat.IsZero() })
	return err
}

// Requesters says whom a run at work answers; the zero Run stands for an owner who wrote a command.
func (r *Resolver) Requesters(ctx context.Context, s sessions.Session, run sessions.Run) (Requesters, error) {
	if run.ID == "" {
		return Requesters{Owner: true}, nil
	}
	steps, err := r.store.Steps(ctx, run.ID)
	if err != nil && !errors.Is(err, sessions.ErrNotFound) {
		return Requesters{}, err
	}
	a, _, err := r.Lineage(ctx, s, run, sessions.MergedMessages(run, steps)...)
	return a, err
}

// NewestTask finds the newest run of a sub-agent's own; zero when there is none.
func (r *Resolver) NewestTask(ctx context.Context, key sessions.Key) (sessions.Run, error) {
	runs, err := r.store.ListRuns(ctx, sessions.RunQuery{Key: key, Limit: 200})
	if i := slices.IndexFunc(runs, func(x sessions.Run) bool { return x.Kind == sessions.ChildRun && x.Chain != nil }); err == nil && i >= 0 {
		return runs[i], nil
	}
	return sessions.Run{}, err
}
