package settings

import (
	"context"
	"slices"
	"sync"

	"parley/channels"
	"parley/policy"
	"parley/sessions"
)

// MovedChats knows what chats and people were before they got a new id. What the configuration says about an old id applies until it has an
// entry for the new one: a person cannot edit it in the moment in which a group moves, or a hidden number becomes known.
type MovedChats struct {
	mu       sync.Mutex
	was, now map[channels.Address]channels.Address // without threads
	earlier  map[identity]channels.UserID          // by the id that a person has
	later    map[identity]channels.UserID          // by one that they had
	became   map[AccountRef]channels.AccountID     // by an account that was renamed, what it is called now
	stored   int
}

// identity is one id of a person.
type identity struct {
	channel channels.Kind
	id      channels.UserID
}

// NewMovedChats returns one that knows of no change.
func NewMovedChats() *MovedChats {
	return &MovedChats{was: map[channels.Address]channels.Address{}, now: map[channels.Address]channels.Address{},
		earlier: map[identity]channels.UserID{}, later: map[identity]channels.UserID{}, became: map[AccountRef]channels.AccountID{}}
}

// Load reads what the store has kept.
func (f *MovedChats) Load(ctx context.Context, store sessions.Chats) error {
	was, err := store.Moves(ctx)
	if err != nil {
		return err
	}
	ids, err := store.Identities(ctx)
	if err != nil {
		return err
	}
	renames, err := store.Renames(ctx)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range renames {
		f.became[AccountRef{Channel: x.Channel, Account: x.Was}] = x.Now
	}
	for to, from := range was {
		f.was[to], f.now[from] = from, to
	}
	for _, x := range ids {
		f.earlier[identity{x.Channel, x.Now}], f.later[identity{x.Channel, x.Was}] = x.Was, x.Now
	}
	return nil
}

// Add says that a chat has a new id; as the store keeps it, so that the next process knows it, too. An id that is in use again is no
// former one, so there is no circle.
func (f *MovedChats) Add(from, to channels.Address) {
	from.Thread, to.Thread = "", ""
	if f == nil || from == to {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.was, f.now[to])
	delete(f.now, to)
	if old, ok := f.was[to]; ok {
		delete(f.now, old)
	}
	if old, ok := f.now[from]; ok { // it went elsewhere this time
		delete(f.was, old)
	}
	f.was[to], f.now[from] = from, to
}

// Involves reports whether a chat has a new id, or had another one.
func (f *MovedChats) Involves(chat channels.Address) bool {
	if f == nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	chat.Thread = ""
	_, moved := f.now[chat]
	_, had := f.was[chat]
	return moved || had
}

// Stored says that the store has taken a move: from now on sessions may have other chats, and runs other sessions.
func (f *MovedChats) Stored() {
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stored++
}

// StoredMoves counts the moves that the store has taken since the start.
func (f *MovedChats) StoredMoves() int {
	if f == nil {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stored
}

// Meet says that a person has a new id. One that had another person's before is not that person.
func (f *MovedChats) Meet(kind channels.Kind, was, now channels.UserID) {
	if f == nil || was == "" || now == "" || was == now {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a, b := identity{kind, was}, identity{kind, now}
	if old, ok := f.earlier[b]; ok {
		delete(f.later, identity{kind, old})
	}
	if next, ok := f.later[b]; ok {
		delete(f.later, b)
		delete(f.earlier, identity{kind, next})
	}
	if old, ok := f.later[a]; ok { // a number that they had for a while, and that another person may have now
		delete(f.earlier, identity{kind, old})
	}
	f.earlier[b], f.later[a] = was, now
}

// Rename says that an account took the place of others, and that its name is in use: no longer a former one. It gives those of the others of
// which that was not known.
func (f *MovedChats) Rename(ref AccountRef, was ...channels.AccountID) (fresh []channels.AccountID) {
	if f == nil {
		return was
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.became, ref)
	for _, old := range was {
		if f.became[AccountRef{Channel: ref.Channel, Account: old}] != ref.Account {
			fresh = append(fresh, old)
		}
		f.became[AccountRef{Channel: ref.Channel, Account: old}] = ref.Account
	}
	for from, to := range f.now {
		delete(f.now, from)
		delete(f.was, to)
		from.Account, to.Account = f.account(Ref(from)), f.account(Ref(to))
		f.now[from], f.was[to] = to, from
	}
	return fresh
}

// Also gives the other id of a person, "" when they have one alone.
func (f *MovedChats) Also(kind channels.Kind, id channels.UserID) channels.UserID {
	if f == nil {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if was, ok := f.earlier[identity{kind, id}]; ok {
		return was
	}
	return f.later[identity{kind, id}]
}

// Current gives the address that a chat has now.
func (f *MovedChats) Current(at channels.Address) channels.Address {
	if f == nil {
		return at
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	next := at
	next.Thread, next.Account = "", f.account(Ref(at))
	for to, moved := f.now[next]; moved; to, moved = f.now[next] {
		next = to
	}
	next.Thread = at.Thread
	return next
}

// account gives the name that an account has now; f.mu is held.
func (f *MovedChats) account(ref AccountRef) channels.AccountID {
	for now, renamed := f.became[ref]; renamed; now, renamed = f.became[ref] {
		ref.Account = now
	}
	return ref.Account
}

// Called gives an address by the name that its account has now.
func (f *MovedChats) Called(at channels.Address) channels.Address {
	if f == nil {
		return at
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at.Account = f.account(Ref(at))
	return at
}

// names gives the addresses that a chat has and had, newest first, each with the thread of the one that is asked for; those by former
// names of its account come last, again newest first.
func (f *MovedChats) names(at channels.Address) []channels.Address {
	out := []channels.Address{at}
	if f == nil {
		return out
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	next := at
	next.Thread = ""
	for was, ok := f.was[next]; ok; was, ok = f.was[next] {
		next = was
		was.Thread = at.Thread
		out = append(out, was)
	}
	chats := len(out)
	for _, account := range f.accounts(Ref(at)) {
		for _, a := range out[:chats] {
			if a.Account == at.Account {
				a.Account = account
				out = append(out, a)
			}
		}
	}
	return out
}

// accounts gives the names that an account had, newest first; those that were renamed to the same one by the alphabet. f.mu is held.
func (f *MovedChats) accounts(now AccountRef) (out []channels.AccountID) {
	for next := []AccountRef{now}; len(next) > 0; next = next[1:] {
		first := len(out)
		for was, became := range f.became {
			if was.Channel == now.Channel && became == next[0].Account {
				out = append(out, was.Account)
			}
		}
		slices.Sort(out[first:])
		for _, was := range out[first:] {
			next = append(next, AccountRef{Channel: now.Channel, Account: was})
		}
	}
	return out
}

// Known fills in what the platform has told about who an event is of: an address in a direct chat that another one became is the new
// one's, whichever a message comes from.
func (s *Snapshot) Known(in channels.Inbound) channels.Inbound {
	in.Address = s.Moved.Called(in.Address)
	if in.Address.Type == channels.Direct && in.Event != channels.Moved {
		if now := s.Moved.Current(in.Address); now != in.Address {
			if next := s.Moved.Also(in.Address.Channel, in.Sender.ID); string(in.Sender.ID) == string(in.Address.Chat) && next != "" {
				in.Sender.ID = next
			}
			in.Address = now
		}
	}
	in.Sender = s.Person(in.Address.Channel, in.Sender)
	return in
}

// Person fills in the other id that a person has.
func (s *Snapshot) Person(kind channels.Kind, u channels.Sender) channels.Sender {
	if u.ID != "" {
		u.Also = s.Moved.Also(kind, u.ID)
	}
	return u
}

// People does so for several.
func (s *Snapshot) People(list []channels.Sender, kind channels.Kind) []channels.Sender {
	for i := range list {
		list[i] = s.Person(kind, list[i])
	}
	return list
}

// Account gives the settings of the account that an address belongs to now.
func (s *Snapshot) Account(at channels.Address) Account {
	return s.Accounts[Ref(s.Moved.Called(at))]
}

// ConfigAddress gives the address by which an account's section is asked about a chat: the newest of its ids that has an entry.
func (s *Snapshot) ConfigAddress(at channels.Address) channels.Address {
	at = s.Moved.Called(at)
	groups := s.Accounts[Ref(at)].Access.Groups
	for _, a := range s.Moved.names(at) {
		if _, ok := groups[string(a.Chat)]; ok {
			return a
		}
	}
	return at
}

// PolicySubject is a delivery of a session to an address as the send policy sees it: by every name that the chat has and had.
func (s *Snapshot) PolicySubject(x sessions.Session, to channels.Address) policy.Subject {
	subject := func(k sessions.Key, to channels.Address) policy.Subject {
		return policy.Subject{Key: string(k), StrippedKey: k.Stripped(), PlainKey: string(k.Plain()), Shown: string(k.Shown()), To: to, Override: x.Settings.SendPolicy, ChatDeny: x.ChatDeny}
	}
	out := subject(x.Key, to)
	names := s.Moved.names(s.Moved.Current(to))
	if len(names) == 1 {
		return out
	}
	keys := append([]sessions.Key{x.Key}, s.keysOf(x.Key, names)...)
	for _, n := range names {
		for _, k := range keys {
			out.Was = append(out.Was, subject(k, n))
		}
	}
	return out
}

// keysOf gives a chat's key by each of the names that the chat and its account have and had; none when the key is not the chat's own.
func (s *Snapshot) keysOf(key sessions.Key, names []channels.Address) (out []sessions.Key) {
	p, err := key.Parse()
	if err != nil {
		return nil
	}
	own := false
	add := func(account channels.AccountID, id string) {
		next := p
		next.Account, next.ID = account, id
		own = own || next.Key() == key
		if !slices.Contains(out, next.Key()) {
			out = append(out, next.Key())
		}
	}
	switch to := names[0]; p.Form {
	case sessions.FormGroup, sessions.FormRoom:
		if p.Channel != to.Channel {
			return nil
		}
		for _, n := range names {
			add(n.Account, string(n.Chat))
		}
	case sessions.FormPeer, sessions.FormChannelPeer, sessions.FormAccountPeer:
		if to.Type != channels.Direct {
			return nil
		}
		for _, n := range names {
			add(n.Account, p.ID)
			if other := s.Moved.Also(to.Channel, channels.UserID(p.ID)); other != "" {
				add(n.Account, string(other))
			}
		}
	}
	if !own {
		return nil
	}
	return out
}
