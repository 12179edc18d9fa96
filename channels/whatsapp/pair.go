package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/proto/waWa6"
	"go.mau.fi/whatsmeow/store"
	"go.mau.fi/whatsmeow/types/events"
	"google.golang.org/protobuf/proto"

	"parley/channels"
)

const (
	firstQR    = 60 * time.Second // as WhatsApp's own web client shows them
	laterQR    = 20 * time.Second
	codeTime   = 160 * time.Second // all QR codes together: then the server closes
	unpairTime = 20 * time.Second
	codeClient = "Chrome (Linux)" // the server takes only names of browsers here; the phone shows the device's name afterwards
)

// pairing is one try to link the account. Nothing of what it shows is ever logged.
type pairing struct {
	c      *Channel
	cli    *whatsmeow.Client
	events chan any
	tail   connectionGate
	dials  *dials
}

// Pair implements channels.Pairer. It ends when the new device has logged in once: its keys are on the server then.
func (c *Channel) Pair(ctx context.Context, phone string, show func(channels.PairStep)) error {
	if !c.busy.TryLock() {
		return errBusy
	}
	defer c.busy.Unlock()
	p, done, err := c.beginPairing(ctx)
	if err != nil {
		return err
	}
	defer done()
	if err := p.run(ctx, phone, show); err != nil {
		return err
	}
	c.setState(ctx, channels.Stopped, "")
	c.log.InfoContext(ctx, "WhatsApp account linked", "number", "+"+p.cli.Store.GetJID().User)
	return nil
}

func (c *Channel) beginPairing(ctx context.Context) (*pairing, func(), error) {
	tail, dials := newTail(), &dials{}
	log := &libraryLog{ctx: ctx, log: c.log, handled: tail.over, dials: dials}
	keys, err := openKeys(ctx, c.keys, eachCommit, log)
	if err != nil {
		return nil, nil, err
	}
	if keys.linked() {
		keys.close()
		return nil, nil, failure(channels.Rejected, "the account is already linked: run %s first to end that link", c.command("logout"))
	}
	conn, cut := context.WithCancel(context.WithoutCancel(ctx))
	p := &pairing{c: c, cli: c.newClient(conn, keys.device, log), events: make(chan any, 16), tail: tail, dials: dials}
	p.cli.AddEventHandlerWithSuccessStatus(func(evt any) bool {
		if isForRun(evt) {
			return false
		}
		select {
		case p.events <- evt:
		case <-conn.Done():
		}
		return true
	})
	return p, func() {
		impatient := time.AfterFunc(closePatience, cut)
		p.cli.Disconnect()
		impatient.Stop()
		cut()
		linked := keys.linked()
		keys.close()
		if !linked { // an empty file would look like an account
			_ = removeKeys(c.keys)
		}
	}, nil
}

// isForRun reports whether an event has to wait for a Run, which has an inbox.
func isForRun(evt any) bool {
	switch evt.(type) {
	case *events.Message, *events.GroupInfo, *events.JoinedGroup:
		return true
	}
	return false
}

// newClient makes a client whose connections the adapter makes.
func (c *Channel) newClient(background context.Context, device *store.Device, log *libraryLog) *whatsmeow.Client {
	cli := whatsmeow.NewClient(device, log)
	cli.SetWebsocketHTTPClient(c.client)
	cli.SetPreLoginHTTPClient(c.client)
	cli.SetMediaHTTPClient(c.media)
	cli.EnableAutoReconnect, cli.DisableLoginAutoReconnect = false, true
	// The three together (the third is a handler with a result): a message is acknowledged when the handler took it, and its text is
	// kept until then though the key that it was decrypted with is gone.
	cli.SynchronousAck, cli.EnableDecryptedEventBuffer = true, true
	cli.UseRetryMessageStore = true // who could not read a message of ours can ask for it again after a restart
	cli.BackgroundEventCtx = background
	cli.GetClientPayload = func() *waWa6.ClientPayload {
		library.Lock()
		defer library.Unlock()
		if device.ID == nil {
			store.DeviceProps.Os = proto.String(c.cfg.DeviceName)
		}
		return device.GetClientPayload()
	}
	return cli
}

func (p *pairing) connect(ctx context.Context) error {
	p.tail.settle(ctx, p.c.log)
	conn, cut := context.WithCancel(p.cli.BackgroundEventCtx)
	defer context.AfterFunc(ctx, cut)()
	impatient := time.AfterFunc(dialPatience, cut)
	defer impatient.Stop()
	if err := p.dials.connect(conn, p.cli); err != nil { //nolint:contextcheck // the connection outlives this call
		p.tail.over()
		return failure(channels.Transient, "cannot reach WhatsApp: %w", err)
	}
	return nil
}

// run shows codes until one of them was used.
func (p *pairing) run(ctx context.Context, phone string, show func(channels.PairStep)) error {
	if err := p.connect(ctx); err != nil {
		return err
	}
	var codes []string
	next := time.NewTimer(codeTime)
	defer next.Stop()
	for {
		select {
		case <-ctx.Done():
			return failure(channels.Transient, "linking stopped: %w", ctx.Err())
		case <-next.C:
			if phone != "" || len(codes) == 0 {
				return failure(channels.Transient, "the phone did not confirm the link in time: start again")
			}
			codes = p.showQR(codes, laterQR, next, show)
		case evt := <-p.events:
			switch e := evt.(type) {
			case *events.QR:
				if phone == "" {
					codes = p.showQR(e.Codes, firstQR, next, show)
				} else if err := p.showCode(ctx, phone, next, show); err != nil {
					return err
				}
			case *events.PairSuccess:
				next.Reset(loginPatience)
				codes = nil
			case *events.ManualLoginReconnect: // the server wants to see the new device log in
				p.cli.Disconnect()
				if err := p.connect(ctx); err != nil {
					return err
				}
			case *events.Connected:
				return nil
			default:
				if err := p.c.pairTrouble(evt, p.cli); err != nil {
					return err
				}
			}
		}
	}
}

func (p *pairing) showQR(codes []string, d time.Duration, next *time.Timer, show func(channels.PairStep)) []string {
	if len(codes) == 0 {
		return nil
	}
	next.Reset(d)
	show(channels.PairStep{QR: codes[0], Expires: time.Now().Add(d)})
	return codes[1:]
}

func (p *pairing) showCode(ctx context.Context, phone string, next *time.Timer, show func(channels.PairStep)) error {
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	code, err := p.cli.PairPhone(ctx, phone, true, whatsmeow.PairClientChrome, codeClient)
	switch {
	case errors.Is(err, whatsmeow.ErrPhoneNumberTooShort), errors.Is(err, whatsmeow.ErrPhoneNumberIsNotInternational):
		return failure(channels.Rejected, "the phone number must include the country code, for example +4915112345678")
	case err != nil:
		if query, ok := errors.AsType[*whatsmeow.IQError](err); ok && query.Code < ackServerFirst {
			if query.Code == ackRateLimit {
				return failure(channels.Limited, "too many attempts with that number: wait an hour, or use the QR code")
			}
			return failure(channels.Rejected, "WhatsApp refused a code for that number (error %d): check the number, or use the QR code", query.Code)
		}
		return failure(channels.Transient, "get pairing code: %w", reason(err))
	}
	next.Reset(codeTime)
	show(channels.PairStep{Code: code, Expires: time.Now().Add(codeTime)})
	return nil
}

// pairTrouble reads the events that end a pairing. nil: go on.
func (c *Channel) pairTrouble(evt any, cli *whatsmeow.Client) error {
	switch e := evt.(type) {
	case *events.PairError:
		return failure(channels.Rejected, "the phone's confirmation was invalid: start again")
	case *events.QRScannedWithoutMultidevice:
		return failure(channels.Rejected, "WhatsApp on the phone is too old for linked devices: update the app")
	case *events.PairPasskeyRequest, *events.PairPasskeyError, *events.PairPasskeyConfirmation:
		return failure(channels.Unsupported, "the account requires a passkey, which parley does not support: link by phone number, or turn the passkey off for linking")
	case *events.StreamError:
		return failure(channels.Transient, "WhatsApp closed the connection with error %s", e.Code)
	case *events.Disconnected:
		if !cli.IsConnected() {
			return failure(channels.Transient, "the phone did not confirm the link in time, or the connection broke: start again")
		}
	}
	if end, ok := c.verdict(evt); ok {
		if end.err != nil {
			return end.err
		}
		return failure(channels.Transient, "%s", end.detail)
	}
	return nil
}

// Unpair implements channels.Pairer. A server that cannot be reached is no reason to keep the keys; the phone lists the device then
// until somebody removes it there.
func (c *Channel) Unpair(ctx context.Context) error {
	if !c.busy.TryLock() {
		return errBusy
	}
	defer c.busy.Unlock()
	if !isLinked(c.keys) {
		return nil
	}
	log := &libraryLog{ctx: ctx, log: c.log, dials: &dials{}}
	keys, err := openKeys(ctx, c.keys, eachCommit, log)
	if err != nil {
		return err
	}
	if keys.linked() {
		if err := c.logout(ctx, keys, log); err != nil {
			c.log.WarnContext(ctx, "cannot unlink the device at WhatsApp", "hint", "remove the device on the phone, under linked devices", "err", err)
		}
	}
	keys.close()
	if err := errors.Join(removeKeys(c.keys), removeStrangers(filepath.Dir(c.keys)), removeTimers(filepath.Dir(c.keys))); err != nil {
		return failure(channels.Transient, "remove keys: %w", err)
	}
	c.setState(ctx, channels.LoggedOut, c.login())
	return nil
}

// logout tells the server that the device is no more.
func (c *Channel) logout(ctx context.Context, keys *keyring, log *libraryLog) error {
	ctx, cancel := context.WithTimeout(ctx, unpairTime)
	defer cancel()
	keys.keep()
	p := &pairing{c: c, cli: c.newClient(ctx, keys.device, log), events: make(chan any, 16), dials: log.dials}
	p.cli.AddEventHandlerWithSuccessStatus(func(evt any) bool {
		switch evt.(type) {
		case *events.Connected, *events.LoggedOut, *events.StreamReplaced, *events.ClientOutdated, *events.TemporaryBan, *events.ConnectFailure, *events.Disconnected:
			select {
			case p.events <- evt:
			default:
			}
		}
		return !isForRun(evt)
	})
	if err := p.connect(ctx); err != nil {
		return err
	}
	defer p.cli.Disconnect()
	select {
	case evt := <-p.events:
		switch evt.(type) {
		case *events.Connected:
			if err := p.cli.Logout(ctx); !errors.Is(err, errKept) {
				return err
			}
			return nil
		case *events.LoggedOut:
			return nil
		}
		return fmt.Errorf("WhatsApp answered with %T", evt)
	case <-ctx.Done():
		return ctx.Err()
	}
}
