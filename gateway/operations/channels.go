package operations

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/skip2/go-qrcode"

	"parley/channels"
	"parley/gateway/accounts"
	"parley/gateway/api"
	"parley/gateway/config"
)

// Channels are the operations on the accounts of the configuration.
type Channels struct {
	config   func() *config.Config
	accounts *accounts.Supervisor
}

// Table lists the operations.
func (o *Channels) Table() api.Table {
	return api.Table{
		api.Op("channels.status", "GET /api/channels", api.Read, "Accounts of the configuration, with their state.", o.listChannels),
		api.Op("channels.restart", "POST /api/channels/restart", api.Admin, "Restart an account.", o.restartChannel),
		api.Op("channels.logout", "POST /api/channels/logout", api.Admin, "Unlink an account.", o.logoutChannel),
		api.Stream[api.LoginCall, api.LoginStep]("channels.login", "POST /api/channels/login", api.Admin,
			"Link an account: one line of JSON for each step. The login ends when the client disconnects.", "application/x-ndjson", o.loginChannel),
	}
}

// listChannels is GET /api/channels: every account of the configuration, also those that are switched off.
func (o *Channels) listChannels(context.Context, api.None) ([]api.Account, error) {
	list := o.accounts.Statuses()
	for _, d := range o.config().Disabled {
		list = append(list, api.Account{Channel: d.Kind, Account: d.ID, State: channels.Stopped, Off: true, Detail: "disabled (enabled: false)"})
	}
	return list, nil
}

func (o *Channels) restartChannel(_ context.Context, c api.AccountCall) (api.Account, error) {
	a, err := o.accounts.Find(c.Channel, c.Account)
	if err == nil {
		err = o.accounts.Restart(a)
	}
	if err != nil {
		return api.Account{}, err
	}
	return a.Status(time.Now()), nil
}

func (o *Channels) logoutChannel(ctx context.Context, c api.AccountCall) (api.Account, error) {
	a, err := o.accounts.Find(c.Channel, c.Account)
	if err == nil {
		err = o.accounts.Logout(ctx, a)
	}
	if err != nil {
		return api.Account{}, err
	}
	return a.Status(time.Now()), nil
}

// loginChannel links an account. The answer is a line of JSON (LoginStep) for each step; a client that hangs up ends the login.
func (o *Channels) loginChannel(w http.ResponseWriter, r *http.Request) {
	call, err := api.Decode[api.LoginCall](w, r)
	if err != nil {
		api.WriteError(w, err)
		return
	}
	a, err := o.accounts.Find(call.Channel, call.Account)
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
		if err := o.accounts.CanLink(a); err != nil {
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
			_, _ = w.Write(append(line, '\n')) // a client that hung up needs no answer
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
		name, err := o.accounts.Login(r.Context(), a, phone, func(s channels.PairStep) {
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
			write(loginStep(s))
		case x := <-over:
			switch {
			case x.err == nil:
				write(api.LoginStep{Done: true, Account: a.String(), Name: x.name})
			case began:
				write(api.LoginStep{Error: x.err.Error()})
			default:
				api.WriteError(w, x.err)
			}
			return
		}
	}
}

func loginStep(s channels.PairStep) api.LoginStep {
	out := api.LoginStep{QR: s.QR, Code: s.Code, Expires: s.Expires}
	if s.QR != "" {
		out.Image = qrPicture(s.QR)
	}
	return out
}

// qrPicture draws a QR code; nil when the text is too long for one.
func qrPicture(text string) *api.LoginPicture {
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

// phoneNumber reads a number as people write it and gives it as +4915…; empty stays empty.
func phoneNumber(text string) (string, error) {
	digits := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -./()", r) {
			return -1
		}
		return r
	}, text)
	if digits == "" {
		return "", nil
	}
	digits = strings.TrimPrefix(strings.TrimPrefix(digits, "+"), "00")
	if strings.Trim(digits, "0123456789") != "" || len(digits) < 7 || len(digits) > 15 || digits[0] == '0' {
		return "", api.Bad("phone %q: write the whole number with its country code, for example +49 151 23456789", text)
	}
	return "+" + digits, nil
}
