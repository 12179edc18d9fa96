package web

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
)

// pairingView is view_pairing.html.
type pairingView struct {
	Asking, Rejected []sessions.Pairing
	Admitted         []sessions.Admitted // the newest first
	Channels         []channels.Kind     // that a code can belong to
	Channel          channels.Kind       // as it was chosen
	Code             string              // as it was typed
	Refused          refusal
}

func (s site) pairing(r *http.Request) (any, error) { return s.people(r, pairingView{}) }

// strangers lists those who wait for approval, and those who were rejected.
func (s site) strangers(r *http.Request) (asking, rejected []sessions.Pairing, err error) {
	list, err := call[[]sessions.Pairing](s, r, "pairing.list", &api.None{})
	for _, p := range list {
		if p.Rejected {
			rejected = append(rejected, p)
		} else {
			asking = append(asking, p)
		}
	}
	return asking, rejected, err
}

// people fills in who asks and who was let in.
func (s site) people(r *http.Request, v pairingView) (any, error) {
	var err error
	if v.Asking, v.Rejected, err = s.strangers(r); err != nil {
		return nil, err
	}
	for _, p := range v.Asking {
		v.Channels = append(v.Channels, p.Channel)
	}
	if v.Admitted, err = call[[]sessions.Admitted](s, r, "pairing.admitted", &api.None{}); err != nil {
		return nil, err
	}
	v.Admitted = slices.Clone(v.Admitted)
	slices.SortStableFunc(v.Admitted, func(a, b sessions.Admitted) int { return b.Since.Compare(a.Since) })
	if v.Channel != "" {
		v.Channels = append(v.Channels, v.Channel)
	}
	slices.Sort(v.Channels)
	v.Channels = slices.Compact(v.Channels)
	return v, nil
}

func (s site) approve(r *http.Request) (any, error) {
	return s.answerPairing(r, func(c api.PairingCall) (string, error) {
		if r.PostForm.Get("owner") != "" {
			yes := true
			c.Owner = &yes
		}
		a, err := call[sessions.Approval](s, r, "pairing.approve", &c)
		return fmt.Sprintf("%s may write now.%s", cmp.Or(a.Name, string(a.User)), strings.ReplaceAll(a.AboutOwner(), "`", "")), err
	})
}

func (s site) reject(r *http.Request) (any, error) {
	return s.answerPairing(r, func(c api.PairingCall) (string, error) {
		_, err := call[any](s, r, "pairing.reject", &c)
		return "Rejected. The person is not told, and gets no new code for a day.", err
	})
}

// answerPairing does what is to be done with a code; one that nobody has stays in its field with the reason below it.
func (s site) answerPairing(r *http.Request, do func(api.PairingCall) (string, error)) (any, error) {
	c := api.PairingCall{Channel: channels.Kind(r.PostForm.Get("channel")), Code: strings.TrimSpace(r.PostForm.Get("code"))}
	if c.Code == "" {
		return s.people(r, pairingView{Channel: c.Channel, Refused: refusal{"code", "Enter the code that the bot sent."}})
	}
	say, err := do(c)
	if f, ok := refusedBy(err); ok {
		return s.people(r, pairingView{Channel: c.Channel, Code: c.Code, Refused: refusal{"code", f.Text}})
	}
	if err != nil {
		return nil, err
	}
	v, err := s.people(r, pairingView{})
	if err != nil {
		return nil, err
	}
	return changeResult{Say: say, Data: v}, nil
}

func (s site) unpair(r *http.Request) (any, error) {
	p := api.PairedPerson{Channel: channels.Kind(r.PostForm.Get("channel")), Account: channels.AccountID(r.PostForm.Get("account")), User: r.PostForm.Get("user")}
	who, err := call[sessions.Admitted](s, r, "pairing.remove", &p)
	if err != nil {
		return nil, err
	}
	say := "Removed."
	if who.Owner {
		say += strings.ReplaceAll(sessions.StillOwner, "`", "")
	}
	v, err := s.people(r, pairingView{})
	if err != nil {
		return nil, err
	}
	return changeResult{Say: say, Data: v}, nil
}
