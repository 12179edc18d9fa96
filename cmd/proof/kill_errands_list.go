package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"parley/channels/telegram/telegramtest"
	"parley/channels/whatsapp/whatsapptest"
	"parley/gateway/prooftest"
	"parley/sessions"
)

// parts has more come while a turn is at work: for its next step, or of the gesture that it answers.
func parts(ctx context.Context, e *errands) {
	switch e.n % 3 {
	case 0:
		steering(ctx, e)
		return
	case 1:
		albums(ctx, e)
		return
	}
	at, chat := e.group()
	e.say(at, "/queue followup")
	e.want(at, orderSlow+", what do you think?")
	for _, o := range []telegramtest.Option{origin, origin} {
		e.forward(at, chat, o)
	}
	text := strings.Repeat("word ", 800)
	e.want(at, orderSlow+" "+text)
	e.want(at, "the rest of "+text[:40])
}

// origin is what Telegram says of a message that is passed on.
// source: core.telegram.org/bots/api, MessageOriginHiddenUser
var origin = telegramtest.With("forward_origin", map[string]any{"type": "hidden_user", "date": 1_700_000_000, "sender_user_name": "Ann"})

// albums sends one album whose second half comes late, and one at once while a turn is at work, which both belong to.
func albums(ctx context.Context, e *errands) {
	at, chat, ok := e.atWork(ctx, "/queue steer")
	e.album(at, chat, func(i int) {
		if i == 2 && ok {
			select {
			case <-ctx.Done(): // the host is gone: the rest comes all the same
			case <-time.After(albumLate):
			}
		}
	})
	e.album(at, chat, nil)
	e.want(at, "more")
}

// albumLate is longer than the host waits for the next part of an album.
const albumLate = 700 * time.Millisecond

func steering(ctx context.Context, e *errands) {
	at, _, ok := e.atWork(ctx, "/queue steer")
	if ok {
		e.want(at, "and this too")
	}
	e.want(at, orderSlow+", "+orderNote)
	e.want(at, "more")
}

func interrupting(ctx context.Context, e *errands) {
	if at, _, ok := e.atWork(ctx, "/queue interrupt"); ok {
		e.want(at, "this first")
	}
}

func fullQueue(ctx context.Context, e *errands) {
	if at, _, ok := e.atWork(ctx, "/queue followup cap:1 drop:old"); ok {
		for _, text := range []string{"one", "two", "three"} {
			e.want(at, text)
		}
	}
}

func editWaiting(ctx context.Context, e *errands) {
	at, chat, ok := e.atWork(ctx)
	if !ok {
		return
	}
	text := e.want(at, "second")
	if p, found := e.r.w.one.Find(chat, text); found {
		e.r.w.one.Edit(p, text+", on second thoughts")
	}
}

// editAnswered changes a message while it is being answered: the model sees the new words in its place, or is told of them with the next message.
func editAnswered(ctx context.Context, e *errands) {
	at, chat := e.group()
	text := e.want(at, orderSlow)
	if e.busy(ctx, at) {
		e.change(at, chat, text)
	}
	e.want(at, "thanks") // whose turn is told of the change, if it came too late
}

func newInChat(ctx context.Context, e *errands) {
	at, _ := e.begun(ctx)
	e.say(at, "/new")
	e.owed(at, at.Place, "")
}

func overhearing(ctx context.Context, e *errands) {
	at, chat := e.group()
	e.say(at, "/activation mention")
	e.say(at, "among ourselves")
	p := e.plans.message(at, nil, 0)
	p.text = "@" + telegramtest.BotUsername + " " + p.text
	p.said.Text = p.text
	e.r.crowd.say(p)
	if posted, found := e.r.w.one.Find(chat, "among ourselves"); found {
		e.r.w.one.Reacts(chat, telegramOwner, posted.MessageID, "👍")
	}
}

func liftBudget(ctx context.Context, e *errands) {
	if at, ok := e.spent(ctx); ok {
		e.say(at, "/usage lift session")
	}
}

// spent uses up what the session of a group may spend in a day.
func (e *errands) spent(ctx context.Context) (*place, bool) {
	e.n++
	at, chat := e.groupAt(budgetGroups - 1 - e.n%mostBudgets)
	e.say(at, "one")
	e.say(at, "two")
	return at, until(ctx, errandLimit, "the budget is used up", func() bool {
		return slices.ContainsFunc(e.r.w.one.SentTo(chat), func(m telegramtest.Message) bool { return strings.Contains(m.Text, "has exhausted its budget") })
	}) == nil
}

func liftByAPI(ctx context.Context, e *errands) {
	if at, ok := e.spent(ctx); ok {
		at.Session = strings.Replace(at.Session, "agent:a:", "agent:c:", 1)
		e.api(ctx, http.MethodPost, sessionPath(at)+"/messages", map[string]any{"message": "/usage lift session"})
	}
}

// search asks for words that were just said: then the index has to have them.
func search(ctx context.Context, e *errands) {
	for ctx.Err() == nil {
		if _, ok := e.begun(ctx); ok {
			_ = e.r.w.ask(ctx, http.MethodGet, "/api/search", url.Values{"q": {"hello"}}, nil, nil)
		}
	}
}

func unreadable(_ context.Context, e *errands) {
	e.r.w.one.Raw(`{"update_id": $id, "message": {"message_id": 1, "date": "never", "chat": 7}}`)
}

// chatMoves has a platform say that a chat, or a person, has another id.
func chatMoves(ctx context.Context, e *errands) {
	switch e.moves++; e.moves % 4 {
	case 0:
		silencedMoves(ctx, e)
	case 1:
		numberShows(ctx, e)
	case 2:
		silencedShows(ctx, e)
	default:
		becomeSupergroup(ctx, e)
	}
}

// numberShows has somebody on WhatsApp whose number was hidden write with the number, while a turn is at work and a message waits.
// source: zeroclaw-labs/zeroclaw#6350
func numberShows(ctx context.Context, e *errands) {
	who := e.r.w.hidden()
	old, next := e.mover(who, who.LID()), e.mover(who, who.JID())
	e.want(old, orderSlow)
	if !e.busy(ctx, old) {
		return
	}
	e.want(old, "this waits")
	who.Name(whatsapptest.ByLID)
	e.want(next, "and this comes with the number")
	e.owed(next, next.Place, "")
}

// silencedShows is the same where nothing may be sent to the hidden number: nothing may be sent to the number either.
func silencedShows(ctx context.Context, e *errands) {
	who := e.r.w.hidden()
	old, next := e.mover(who, who.LID()), e.mover(who, who.JID())
	e.say(old, "hello")
	if !e.there(ctx, old) || e.r.crowd.flip(ctx, old, true, 1) != nil {
		return
	}
	who.Name(whatsapptest.ByLID)
	e.r.crowd.changed(e.r.crowd.changing(prooftest.Flip{Place: next.Place, Deny: true, Asked: time.Now()}))
	e.owed(next, next.Place, "")
}

func becomeSupergroup(ctx context.Context, e *errands) {
	at, chat, ok := e.atWork(ctx, "/queue followup")
	if !ok {
		return
	}
	text := e.want(at, "this waits")
	e.change(at, chat, text)
	e.r.w.one.Migrate(chat, 10*chat)
	next := e.known(10 * chat)
	e.want(next, "and this comes behind it")
	e.owed(next, next.Place, "")
}

// silencedMoves has a group move to which nothing may be sent: nothing may be sent to the new one either.
func silencedMoves(ctx context.Context, e *errands) {
	at, chat := e.group()
	e.say(at, "hello")
	if !e.there(ctx, at) || e.r.crowd.flip(ctx, at, true, 1) != nil {
		return
	}
	next := e.known(10 * chat)
	e.r.w.one.Migrate(chat, 10*chat)
	e.r.crowd.changed(e.r.crowd.changing(prooftest.Flip{Place: next.Place, Deny: true, Asked: time.Now()}))
	e.owed(next, next.Place, "")
}

// newAddress has the platform tell the new id of a group where something is sent to the old one.
func newAddress(ctx context.Context, e *errands) {
	at, chat := e.group()
	e.say(at, "hello")
	if !e.there(ctx, at) {
		return
	}
	next, moved := e.groupAt(10 * chat)
	e.r.w.one.Inject(telegramtest.Fault{Chat: chat, Times: -1, Code: http.StatusBadRequest, MigrateTo: moved,
		Description: "Bad Request: group chat was upgraded to a supergroup chat"})
	e.owed(at, next.Place, "")
}

func renameGroup(ctx context.Context, e *errands) {
	at, chat := e.group()
	e.say(at, "hello")
	if e.there(ctx, at) {
		e.r.w.one.Rename(chat, telegramOwner, "Another name")
	}
}

// writeSlowly has an answer shown while it is written: it is an edit of a message in the end.
func writeSlowly(_ context.Context, e *errands) {
	at, _ := e.group()
	e.owed(at, at.Place, " "+orderWrite)
}

// stopWriting stops a turn whose answer is shown already: what is shown goes.
func stopWriting(ctx context.Context, e *errands) {
	at, chat := e.group()
	e.say(at, orderTalk)
	if until(ctx, errandLimit, "the first words", func() bool { return len(e.r.w.one.SentTo(chat)) > 0 }) == nil {
		e.say(at, "/stop")
	}
}

func compact(ctx context.Context, e *errands) {
	at, _ := e.group()
	for range 4 {
		e.say(at, strings.Repeat("The beans in the garden want water again. ", 60))
	}
	if e.busy(ctx, at) {
		e.say(at, "/compact")
	}
	e.owed(at, at.Place, "")
}

// kicked has a group remove the bot, so that an answer fails, and let it in again; then a person asks for it once more.
func kicked(ctx context.Context, e *errands) {
	at, chat := e.group()
	e.say(at, "hello")
	if !e.there(ctx, at) {
		return
	}
	e.refused = append(e.refused, prooftest.Refusal{Place: at.Place, Since: time.Now()})
	e.r.w.one.Block(chat, true)
	e.owed(at, at.Place, "")
	var all []sessions.Delivery
	failed := until(ctx, errandLimit, "the answer fails", func() bool {
		all = nil
		_ = e.r.w.ask(ctx, http.MethodGet, "/api/deliveries", url.Values{"session": {at.Session}}, nil, &all)
		return len(all) > 0 && all[0].State == sessions.DeliveryFail
	})
	if e.r.w.one.Block(chat, false); failed == nil {
		e.api(ctx, http.MethodPost, "/api/deliveries/"+string(all[0].ID)+"/retry", nil)
	}
}

func tooMany(_ context.Context, e *errands) {
	at, chat := e.group()
	f := telegramtest.TooManyRequests("sendMessage", 1)
	f.Chat = chat
	e.r.w.one.Inject(f)
	e.owed(at, at.Place, "")
}

func remember(_ context.Context, e *errands) {
	at, _ := e.group()
	e.want(at, orderNote)
}

// stay lets the host live until it looks for what is old.
func stay(ctx context.Context, _ *errands) { <-ctx.Done() }

// promise does a request until it is answered, over the lives of the host: with its key it counts once.
func (e *errands) promise(path string, body map[string]any) {
	e.n++
	body["idempotencyKey"] = fmt.Sprint("errand-", e.n)
	e.r.promises.Go(func() {
		for e.pause.Err() == nil && e.r.w.ask(e.pause, http.MethodPost, path, nil, body, nil) != nil {
			select {
			case <-e.pause.Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
}

// job has a job begin in a second, whose answer is owed once in a chat.
func job(ctx context.Context, e *errands) {
	at := e.r.w.places[1]
	e.plans.n++
	token := fmt.Sprintf("m%d.j1", e.plans.n)
	text := "[" + token + "]"
	e.r.crowd.note(prooftest.Said{Token: token, At: time.Now(), Place: at.Place, Text: text, Owes: []prooftest.Debt{{Token: token, Kind: prooftest.Report, Place: at.Place}}})
	e.promise("/api/cron", map[string]any{"in": "1s", "to": "telegram/one/group/" + at.Chat, "message": text})
	_ = until(ctx, errandLimit, "the job begins", func() bool { return e.r.model.askedFor(token) })
}

func jobByAPI(ctx context.Context, e *errands) {
	var j struct{ ID string }
	if e.r.w.ask(ctx, http.MethodPost, "/api/cron", nil, map[string]any{"in": "24h", "message": "never mind"}, &j) == nil {
		e.api(ctx, http.MethodDelete, "/api/cron/"+url.PathEscape(j.ID), nil)
	}
}

func archiveByAPI(ctx context.Context, e *errands) {
	if at, ok := e.begun(ctx); ok {
		e.api(ctx, http.MethodPost, sessionPath(at)+"/archive", nil)
		e.owed(at, at.Place, "")
	}
}

func deleteByAPI(ctx context.Context, e *errands) {
	if at, ok := e.begun(ctx); ok {
		e.api(ctx, http.MethodDelete, sessionPath(at), nil)
		e.owed(at, at.Place, "")
	}
}

func resetByAPI(ctx context.Context, e *errands) {
	if at, ok := e.begun(ctx); ok {
		e.api(ctx, http.MethodPost, sessionPath(at)+"/reset", nil)
		e.owed(at, at.Place, "")
	}
}

func stopByAPI(ctx context.Context, e *errands) {
	if at, _, ok := e.atWork(ctx); ok {
		e.api(ctx, http.MethodPost, sessionPath(at)+"/abort", map[string]any{})
	}
}

// wakeHook has a program outside tell the main session something for its next turn.
func wakeHook(ctx context.Context, e *errands) {
	b, _ := json.Marshal(map[string]any{"text": "The disk is full.", "mode": "next", "name": "Monitor"}) // strings
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://parley/hooks/wake", bytes.NewReader(b))
	if err != nil {
		return
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+hookToken)
	if resp, err := e.r.w.client.Do(req); err == nil {
		_ = resp.Body.Close()
	}
}

var pairingCode = regexp.MustCompile(`/pair approve ([A-Z0-9-]+)`)

// ask lets a stranger ask to be let in, and gives the code. Few may wait at a time: those of before are turned down.
func (e *errands) ask(ctx context.Context) (who int64, code string, ok bool) {
	for old := max(0, e.n-lastAsked); old < e.n; old++ { // a kill may have come before anybody saw the code; it is told after the next start
		if code := e.code(errandStrangers + old + 1); code != "" {
			e.api(ctx, http.MethodPost, "/api/pairing/reject", map[string]any{"channel": "telegram", "code": code})
		}
	}
	e.n++
	who = errandStrangers + e.n
	e.r.w.one.AddUser(telegramtest.User{ID: who, Name: "Stranger"})
	e.places[prooftest.Place{Platform: "telegram", Account: "one", Chat: id(who)}] = true
	e.r.w.one.Say(who, who, "may I?")
	ok = until(ctx, errandLimit, "a code", func() bool { code = e.code(who); return code != "" }) == nil
	return who, code, ok
}

// lastAsked is how many of those who asked last may wait for an answer still.
const lastAsked = 12

// code gives the code that somebody was told; "" = none yet.
func (e *errands) code(who int64) (code string) {
	for _, m := range e.r.w.one.SentTo(who) {
		if found := pairingCode.FindStringSubmatch(m.Text); found != nil {
			code = found[1]
		}
	}
	return code
}

func stranger(ctx context.Context, e *errands) { e.ask(ctx) }

func pairInChat(ctx context.Context, e *errands) {
	if who, code, ok := e.ask(ctx); ok {
		e.r.crowd.command(e.r.w.places[0], "/pair approve "+code)
		e.r.crowd.command(e.r.w.places[0], "/pair remove "+id(who))
	}
}

func pairByAPI(ctx context.Context, e *errands) {
	if who, code, ok := e.ask(ctx); ok {
		e.api(ctx, http.MethodPost, "/api/pairing/approve", map[string]any{"channel": "telegram", "code": code})
		e.api(ctx, http.MethodPost, "/api/pairing/remove", map[string]any{"channel": "telegram", "user": id(who)})
	}
}
