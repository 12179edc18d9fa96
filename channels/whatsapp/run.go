package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"go.mau.fi/whatsmeow"
	"go.mau.fi/whatsmeow/store"

	"parley/channels"
)

const (
	dialPatience  = 30 * time.Second // for a connection to be made
	loginPatience = 90 * time.Second // from there until the server took the login; the first one uploads 812 keys
	stopGrace     = 5 * time.Second  // for the event under way when Run is told to end
	closePatience = 2 * time.Second  // for saying goodbye to the server
	keysPatience  = time.Second / 2  // for what the library still does with the key file
	stale         = 90 * time.Second // the library pings every 20 to 30 s and gives a ping 10 s
	firstWait     = time.Second
	longestWait   = time.Minute
	steadyAfter   = 30 * time.Second // a connection that lasted this long was a good one
)

// library guards the variables of whatsmeow from which it builds what a connection says of itself: the version and the name of the
// device. It is held while that is built and not over the network.
var library sync.Mutex

// ending is how a connection ended. Without an error it is to be made again.
type ending struct {
	state  channels.State
	detail string
	err    *channels.Error
	aside  bool // the keys are of no use any more
	atOnce bool // the server asks to come again
	again  bool // for what was refused: the connection itself is good
	update bool // the server does not speak with this version
}

// Run implements channels.Channel. The server keeps what was not acknowledged: a new connection, and a new Run, get it again.
func (c *Channel) Run(ctx context.Context, inbox channels.Inbox) error {
	if !c.busy.TryLock() {
		return errBusy
	}
	defer c.busy.Unlock()
	c.setState(ctx, channels.Connecting, "")
	if !isLinked(c.keys) {
		return c.stopFor(ctx, c.notLinked())
	}
	l, err := c.open(ctx, inbox)
	if err != nil {
		c.setState(ctx, channels.Disconnected, err.Error())
		return err
	}
	if !l.keys.linked() {
		l.keys.close()
		return c.stopFor(ctx, c.notLinked())
	}
	c.identified(ctx, userID(l.me.pn))
	end := l.serve(ctx)
	l.shut()
	if end.aside {
		if where, err := putAside(c.keys, time.Now()); err != nil {
			c.log.ErrorContext(ctx, "cannot move the keys of the old link", "err", err)
		} else {
			c.log.WarnContext(ctx, "moved the keys of the old link", "file", where)
		}
	}
	return c.stopFor(ctx, end)
}

var (
	errBusy = &channels.Error{Class: channels.Rejected, Err: errors.New("the account is in use: stop the account before you link or unlink it")}
	errHeld = errors.New("WhatsApp restricts the account")
)

// stopFor sets the last state of a Run and gives what it returns.
func (c *Channel) stopFor(ctx context.Context, end ending) error {
	if end.err == nil {
		c.setState(ctx, channels.Stopped, "")
		return nil
	}
	c.setState(ctx, end.state, end.detail)
	return end.err
}

func (c *Channel) notLinked() ending { return unauthorized(channels.LoggedOut, c.login()) }

// login says how to link the account.
func (c *Channel) login() string { return "run " + c.command("login") }

// command is what a person types to have something done with the account.
func (c *Channel) command(what string) string {
	if c.account == channels.DefaultAccount {
		return "parley " + what + " whatsapp"
	}
	return fmt.Sprintf("parley %s whatsapp --account %s", what, c.account)
}

func unauthorized(state channels.State, detail string) ending {
	return ending{state: state, detail: detail, err: &channels.Error{Class: channels.Unauthorized, Err: errors.New(detail)}}
}

// open makes a client for the key file.
func (c *Channel) open(ctx context.Context, inbox channels.Inbox) (*link, error) {
	l := &link{
		c: c, turn: make(chan struct{}, 1), ended: make(chan ending, 1), ready: make(chan struct{}, 1),
		tail: newTail(),
	}
	l.intake = &intake{link: l, inbox: inbox, insisting: make(chan struct{}, mostInsisted), held: map[channels.ChatID]refusal{}, refusals: channels.NewBackoff(c.pace.refused, longestWait)}
	l.albums = &gatherer{link: l}
	l.out = &outbox{link: l, sends: make(chan struct{}, 1)}
	log := &libraryLog{ctx: ctx, log: c.log, received: l.seen, sending: l.leaves, handled: l.tail.over, dials: &l.dials}
	keys, err := openKeys(ctx, c.keys, aheadOfStanzas, log)
	if err != nil {
		return nil, err
	}
	if keys.device.PushName == "" { // the phone tells the account's own name some time after the login; presence needs one
		keys.device.PushName = c.cfg.DeviceName
	}
	keys.keep()
	keys.trouble.guard(keys.device)
	keys.trouble.tell = l.intake.keysFailed
	l.keys = keys
	id := keys.device.GetJID()
	l.me = identity{pn: plain(id), lid: plain(keys.device.GetLID()), device: id.Device}
	l.offering, l.stopOffering = context.WithCancel(context.WithoutCancel(ctx))
	cli := c.newClient(l.offering, keys.device, log) //nolint:contextcheck // it outlives ctx by the event under way
	cli.AddEventHandlerWithSuccessStatus(l.handle)
	l.cli = cli
	l.groups = newGroups(l.groupFacts)
	if l.timers, err = loadTimers(filepath.Dir(c.keys), c.log); err != nil {
		c.log.WarnContext(ctx, "cannot read WhatsApp chat timers", "err", err)
	}
	l.typing = newTyping(l)
	if l.unknown, err = loadStrangers(filepath.Dir(c.keys)); err != nil {
		c.log.WarnContext(ctx, "cannot read WhatsApp chats without a number", "err", err)
	}
	return l, nil
}

// serve keeps the account connected until ctx ends or only a person can help.
func (l *link) serve(ctx context.Context) ending {
	defer l.background.Wait()
	defer l.stop()
	wait := channels.NewBackoff(l.c.pace.first, longestWait)
	updated := false
	for {
		began := time.Now()
		end := l.connection(ctx)
		if ctx.Err() != nil {
			return ending{}
		}
		if lost, ok := l.keysLost(); ok {
			return lost
		}
		if end.update && !updated && l.c.update(ctx) {
			updated, end = true, ending{atOnce: true}
		}
		if end.err != nil && !l.doubtful(&end) {
			return end
		}
		if time.Since(began) > steadyAfter {
			wait.Reset()
		}
		l.c.setState(ctx, channels.Disconnected, end.detail)
		pause := wait.NextBackOff()
		switch {
		case end.err != nil:
			pause = l.c.pace.verdict/verdictTries + rand.N(l.c.pace.verdict/verdictTries+1)
		case end.atOnce:
			pause = min(pause, l.c.pace.first)
		}
		if !channels.Sleep(ctx, pause) {
			return ending{}
		}
		l.c.setState(ctx, channels.Connecting, end.detail)
	}
}

// connection makes one connection and waits for its end.
func (l *link) connection(ctx context.Context) ending {
	conn, cut := context.WithCancel(l.offering)
	defer cut()
	l.begin(ctx)
	if ctx.Err() != nil {
		return ending{}
	}
	if err := l.dial(ctx, conn, cut); err != nil {
		return ending{detail: "cannot reach WhatsApp: " + err.Error()}
	}
	defer l.disconnect(cut)
	defer l.c.live.Store(nil)
	login := time.NewTimer(loginPatience)
	defer login.Stop()
	for {
		select {
		case <-ctx.Done():
			l.finish()
			l.farewell() //nolint:contextcheck // ctx has ended
			return ending{}
		case end := <-l.ended:
			if end.again {
				l.farewell() //nolint:contextcheck // of the connection
			}
			return end
		case <-l.ready:
			if !l.loggedIn.Load() || !l.cli.IsConnected() { // the library says so of an older connection that broke on the way
				continue
			}
			login.Stop()
			l.doubt = suspicion{}
			l.c.live.Store(l)
			l.c.named(l.keys.device.PushName, l.me.pn.User)
			l.c.setState(ctx, channels.Connected, "")
			l.announce(conn) //nolint:contextcheck // as long as the connection
		case <-login.C:
			return ending{detail: "WhatsApp does not answer the login"}
		}
	}
}

func (l *link) dial(ctx, conn context.Context, cut func()) error {
	l.tail.settle(ctx, l.c.log)
	defer context.AfterFunc(ctx, cut)()
	impatient := time.AfterFunc(dialPatience, cut)
	defer impatient.Stop()
	err := l.dials.connect(conn, l.cli)
	if err != nil {
		l.tail.over()
	}
	return err
}

// disconnect closes the connection. A server that does not answer is not waited for.
func (l *link) disconnect(cut func()) {
	impatient := time.AfterFunc(closePatience, cut)
	defer impatient.Stop()
	l.cli.Disconnect()
}

// finish lets the event under way come to its end and no other one begin.
func (l *link) finish() {
	l.closing.Store(true)
	defer time.AfterFunc(l.c.pace.grace, l.stopOffering).Stop()
	l.turn <- struct{}{} // kept: nothing is offered after this
	l.finished.Store(true)
}

// stop ends what a Run has running beside its connection.
func (l *link) stop() {
	if !l.finished.Load() {
		l.finish()
	}
	l.typing.stop()
	l.albums.forgetGestures() // under the turn, which finish keeps
	l.stopOffering()
}

// shut closes the key file, after the connection.
func (l *link) shut() {
	l.keys.close()
	l.c.client.CloseIdleConnections()
	l.c.media.CloseIdleConnections()
}

// update takes over the version that WhatsApp's own web client has now, when it is another one.
func (c *Channel) update(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, dialPatience)
	defer cancel()
	latest, err := whatsmeow.GetLatestVersion(ctx, c.client)
	if err != nil {
		c.log.WarnContext(ctx, "cannot get the current WhatsApp web version")
		return false
	}
	library.Lock()
	defer library.Unlock()
	have := store.GetWAVersion()
	if !have.LessThan(*latest) {
		return false
	}
	store.SetWAVersion(*latest)
	c.log.InfoContext(ctx, "WhatsApp asked for a newer version", "had", have.String(), "has", latest.String())
	return true
}

// plainClient is a copy of a client without a time limit of its own; a websocket is one long request.
func plainClient(client *http.Client) *http.Client {
	if client == nil {
		return &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	own := *client
	own.Timeout = 0
	return &own
}
