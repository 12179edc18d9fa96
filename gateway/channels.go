package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skip2/go-qrcode"

	"parley/channels"
	"parley/gateway/api"
	"parley/sessions"
)

func (h *Host) accountOperations() api.Table {
	return api.Table{
		api.Op("channels.status", "GET /api/channels", api.Read, "Every account of the configuration, and how it is.", h.listChannels),
		api.Op("channels.restart", "POST /api/channels/restart", api.Admin, "Start an account again.", h.restartChannel),
		api.Op("channels.logout", "POST /api/channels/logout", api.Admin, "End the link of an account.", h.logoutChannel),
		api.Stream[api.LoginCall, api.LoginStep]("channels.login", "POST /api/channels/login", api.Admin,
			"Link an account: a line of JSON for each step; whoever hangs up ends the login.", "application/x-ndjson", h.loginChannel),
	}
}

// listChannels is GET /api/channels: every account of the configuration, also those that are switched off.
func (h *Host) listChannels(context.Context, api.None) ([]api.Account, error) {
	list := h.statuses()
	for _, d := range h.deps.Config.Config().Disabled {
		list = append(list, api.Account{Channel: d.Kind, Account: d.ID, State: channels.Stopped, Off: true, Detail: "switched off (enabled: false)"})
	}
	return list, nil
}

func (h *Host) restartChannel(_ context.Context, c api.AccountCall) (api.Account, error) {
	a, err := h.findAccount(c.Channel, c.Account)
	if err == nil {
		err = h.restart(a)
	}
	if err != nil {
		return api.Account{}, err
	}
	return a.status(time.Now()), nil
}

func (h *Host) logoutChannel(ctx context.Context, c api.AccountCall) (api.Account, error) {
	a, err := h.findAccount(c.Channel, c.Account)
	if err == nil {
		err = h.logout(ctx, a)
	}
	if err != nil {
		return api.Account{}, err
	}
	return a.status(time.Now()), nil
}

// loginChannel links an account. The answer is a line of JSON (LoginStep) for each step; whoever hangs up ends the login.
func (h *Host) loginChannel(w http.ResponseWriter, r *http.Request) {
	call, err := api.Decode[api.LoginCall](w, r)
	if err != nil {
		api.WriteError(w, err)
		return
	}
	a, err := h.findAccount(call.Channel, call.Account)
	if err != nil {
		api.WriteError(w, err)
		return
	}
	phone, err := phoneNumber(call.Phone)
	if err != nil {
		api.WriteError(w, err)
		return
	}
	if call.Check {
		if err := h.mayLogin(a); err != nil {
			api.WriteError(w, err)
			return
		}
		api.WriteJSON(w, http.StatusOK, api.LoginStep{Account: a.String()})
		return
	}
	began := false
	write := func(s api.LoginStep) {
		if !began {
			began = true
			w.Header().Set("Content-Type", "application/x-ndjson")
			w.Header().Set("Cache-Control", "no-store")
		}
		if line, err := api.Marshal(s); err == nil {
			_, _ = w.Write(append(line, '\n')) // whoever hung up needs no answer
		}
		_ = http.NewResponseController(w).Flush()
	}
	steps := make(chan channels.PairStep)
	type outcome struct {
		name string
		err  error
	}
	over := make(chan outcome, 1)
	// The adapter may show a step from any goroutine; the answer is written by this one.
	go func() { //nolint:contextcheck // accounts live with the host, not with who logs in
		name, err := h.login(r.Context(), a, phone, func(s channels.PairStep) {
			select {
			case steps <- s:
			case <-r.Context().Done():
			}
		})
		over <- outcome{name, err}
	}()
	for {
		select {
		case s := <-steps:
			write(step(s))
		case o := <-over:
			switch {
			case o.err == nil:
				write(api.LoginStep{Done: true, Account: a.String(), Name: o.name})
			case began:
				write(api.LoginStep{Error: o.err.Error()})
			default:
				api.WriteError(w, o.err)
			}
			return
		}
	}
}

func step(s channels.PairStep) api.LoginStep {
	out := api.LoginStep{QR: s.QR, Code: s.Code, Expires: s.Expires}
	if s.QR != "" {
		out.Image = picture(s.QR)
	}
	return out
}

// picture draws a QR code; nil when the text is too long for one.
func picture(text string) *api.LoginPicture {
	code, err := qrcode.New(text, qrcode.Low) // the largest modules: it is read from a screen
	if err != nil {
		return nil
	}
	rows := code.Bitmap()
	var path strings.Builder
	for y, row := range rows {
		for x := 0; x < len(row); x++ {
			if !row[x] {
				continue
			}
			from := x
			for x < len(row) && row[x] {
				x++
			}
			fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", from, y, x-from, x-from)
		}
	}
	return &api.LoginPicture{Size: len(rows), Path: path.String()}
}

// findAccount gives an account by its name; without one the only account of the channel, or the one called default.
func (h *Host) findAccount(kind channels.Kind, id channels.AccountID) (*account, error) {
	var of []*account
	var names []string
	for _, a := range h.accounts.all() {
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
	if i := slices.IndexFunc(of, func(a *account) bool { return a.ref.Account == want }); i >= 0 {
		return of[i], nil
	}
	return nil, h.noAccount(kind, id, names)
}

// noAccount says why there is no such account.
func (h *Host) noAccount(kind channels.Kind, id channels.AccountID, names []string) error {
	for _, d := range h.deps.Config.Config().Disabled {
		if d.Kind == kind && (d.ID == id || id == "" && len(names) == 0) {
			return api.Refuse(http.StatusConflict, "%s (%s) is switched off (enabled: false): change that, then reload the configuration", kind, d.ID)
		}
	}
	kinds := Table(h.deps.Adapters).Kinds()
	switch {
	case !slices.Contains(kinds, kind):
		return api.Refuse(http.StatusNotFound, "there is no channel %q: there are %s", kind, sessions.JoinIDs(kinds))
	case len(names) == 0:
		return api.Refuse(http.StatusNotFound, "%s is not configured: add channels.%s to the configuration, then reload it", kind, kind)
	case id == "":
		return api.Refuse(http.StatusBadRequest, "which account of %s? There are %s", kind, strings.Join(names, ", "))
	}
	return api.Refuse(http.StatusNotFound, "%s has no account %q: there are %s", kind, id, strings.Join(names, ", "))
}
