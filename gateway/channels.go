package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/skip2/go-qrcode"

	"parley/channels"
)

// ChannelCall is the body of POST /api/channels/login, logout and restart. Without an account it is the only one of the channel, or
// the one called default.
type ChannelCall struct {
	Channel channels.Kind      `json:"channel"`
	Account channels.AccountID `json:"account,omitempty"`
	Phone   string             `json:"phone,omitempty"` // login: for a code to type in, instead of a QR code
	Check   bool               `json:"check,omitempty"` // login: only whether it could begin
}

// LoginStep is a line of what POST /api/channels/login answers: what a person is to scan or type in, until one with Done or Error.
type LoginStep struct {
	QR      string        `json:"qr,omitempty"`    // what the code says
	Image   *LoginPicture `json:"image,omitempty"` // the same to be shown
	Code    string        `json:"code,omitempty"`
	Expires time.Time     `json:"expires,omitzero"`
	Done    bool          `json:"done,omitempty"`
	Account string        `json:"account,omitempty"` // with Done
	Name    string        `json:"name,omitempty"`    // with Done: who it is linked as, if that is known
	Error   string        `json:"error,omitempty"`
}

// LoginPicture is a QR code as an SVG path of a square of Size modules.
type LoginPicture struct {
	Size int    `json:"size"`
	Path string `json:"path"`
}

// listChannels is GET /api/channels: every account of the configuration, also those that are switched off.
func (h *Host) listChannels(*http.Request) ([]Status, error) {
	list := h.statuses()
	for _, d := range h.deps.Config.Config().Disabled {
		list = append(list, Status{Channel: d.Kind, Account: d.ID, State: channels.Stopped, Off: true, Detail: "switched off (enabled: false)"})
	}
	return list, nil
}

func (h *Host) restartChannel(r *http.Request) (Status, error) {
	_, a, err := h.called(r)
	if err == nil {
		err = h.restart(a)
	}
	if err != nil {
		return Status{}, err
	}
	return a.status(time.Now()), nil
}

func (h *Host) logoutChannel(r *http.Request) (Status, error) {
	_, a, err := h.called(r)
	if err == nil {
		err = h.logout(r.Context(), a)
	}
	if err != nil {
		return Status{}, err
	}
	return a.status(time.Now()), nil
}

// loginChannel links an account. The answer is a line of JSON (LoginStep) for each step; whoever hangs up ends the login.
func (h *Host) loginChannel(w http.ResponseWriter, r *http.Request) {
	call, a, err := h.called(r)
	if err != nil {
		writeError(w, err)
		return
	}
	phone, err := phoneNumber(call.Phone)
	if err != nil {
		writeError(w, err)
		return
	}
	if call.Check {
		if err := h.mayLogin(a); err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, LoginStep{Account: a.String()})
		return
	}
	began := false
	write := func(s LoginStep) {
		if !began {
			began = true
			w.Header().Set("Content-Type", "application/x-ndjson")
			w.Header().Set("Cache-Control", "no-store")
		}
		_ = json.NewEncoder(w).Encode(s) // whoever hung up needs no answer
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
				write(LoginStep{Done: true, Account: a.String(), Name: o.name})
			case began:
				write(LoginStep{Error: o.err.Error()})
			default:
				writeError(w, o.err)
			}
			return
		}
	}
}

func step(s channels.PairStep) LoginStep {
	out := LoginStep{QR: s.QR, Code: s.Code, Expires: s.Expires}
	if s.QR != "" {
		out.Image = picture(s.QR)
	}
	return out
}

// picture draws a QR code; nil when the text is too long for one.
func picture(text string) *LoginPicture {
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
	return &LoginPicture{Size: len(rows), Path: path.String()}
}

// called reads which account a request is about.
func (h *Host) called(r *http.Request) (call ChannelCall, a *account, err error) {
	dec := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 4<<10))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&call); err != nil || call.Channel == "" {
		return call, nil, bad(`want {"channel": "…", "account": "…"}`)
	}
	a, err = h.findAccount(call.Channel, call.Account)
	return call, a, err
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
			return refuse(http.StatusConflict, "%s (%s) is switched off (enabled: false): change that, then reload the configuration", kind, d.ID)
		}
	}
	kinds := Table(h.deps.Adapters).Kinds()
	switch {
	case !slices.Contains(kinds, kind):
		return refuse(http.StatusNotFound, "there is no channel %q: there are %v", kind, kinds)
	case len(names) == 0:
		return refuse(http.StatusNotFound, "%s is not configured: add channels.%s to the configuration, then reload it", kind, kind)
	case id == "":
		return refuse(http.StatusBadRequest, "which account of %s? There are %s", kind, strings.Join(names, ", "))
	}
	return refuse(http.StatusNotFound, "%s has no account %q: there are %s", kind, id, strings.Join(names, ", "))
}
