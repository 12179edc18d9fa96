package accounts

import (
	"net/http"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
)

// Find gives an account by its name; without one the only account of the channel, or the one called default.
func (s *Supervisor) Find(kind channels.Kind, id channels.AccountID) (*Account, error) {
	var of []*Account
	var names []string
	for _, a := range s.All() {
		if a.ref.Channel == kind {
			of = append(of, a)
			names = append(names, string(a.ref.Account))
		}
	}
	if id == "" && len(of) == 1 {
		return of[0], nil
	}
	want := id
	if want == "" {
		want = channels.DefaultAccount
	}
	if i := slices.IndexFunc(of, func(a *Account) bool { return a.ref.Account == want }); i >= 0 {
		return of[i], nil
	}
	return nil, s.noAccount(kind, id, names)
}

// noAccount says why there is no such account.
func (s *Supervisor) noAccount(kind channels.Kind, id channels.AccountID, names []string) error {
	for _, d := range s.Config().Disabled {
		if d.Kind == kind && (d.ID == id || id == "" && len(names) == 0) {
			return api.Refuse(http.StatusConflict, "%s (%s) is disabled (enabled: false): enable it, then run parley reload", kind, d.ID)
		}
	}
	kinds := Table(s.Adapters).Kinds()
	switch {
	case !slices.Contains(kinds, kind):
		return api.Refuse(http.StatusNotFound, "unknown channel %q: parley has %s", kind, sessions.JoinIDs(kinds))
	case len(names) == 0:
		return api.Refuse(http.StatusNotFound, "%s is not configured: add channels.%s to the configuration, then run parley reload", kind, kind)
	case id == "":
		return api.Refuse(http.StatusBadRequest, "%s has several accounts: name one of %s", kind, strings.Join(names, ", "))
	}
	return api.Refuse(http.StatusNotFound, "%s has no account %q: its accounts are %s", kind, id, strings.Join(names, ", "))
}
