package discordtest_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"

	"parley/channels/discord/discordtest"
)

// The people and places of the tests.
const (
	anna    = "200000000000000001"
	bert    = "200000000000000002"
	house   = "300000000000000001"
	general = "400000000000000001"
	garden  = "400000000000000002"
	thread  = "500000000000000001"
	trio    = "600000000000000001"
	cooks   = "700000000000000001"
)

// scene is a server with people, and an unmodified client of it.
type scene struct {
	*testing.T
	srv    *discordtest.Server
	dg     *discordgo.Session
	events chan *discordgo.Event
}

func newScene(t *testing.T) *scene {
	t.Helper()
	srv := discordtest.New(t)
	srv.AddUser(discordtest.User{ID: anna, Name: "anna", Display: "Anna"})
	srv.AddUser(discordtest.User{ID: bert, Name: "bert"})
	srv.AddGuild(house, "House", anna, bert)
	srv.AddRole(house, cooks, "Cooks", anna)
	srv.AddChannel(house, general, "general")
	srv.AddChannel(house, garden, "garden")
	srv.AddThread(general, thread, "plans", anna)
	srv.AddGroupDM(trio, "trio", anna, bert)
	dg, err := discordgo.New("Bot " + srv.Token())
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{T: t, srv: srv, dg: dg, events: make(chan *discordgo.Event, 1000)}
	dg.Client = srv.Client()
	dg.SyncEvents, dg.ShouldReconnectOnError, dg.ShouldRetryOnRateLimit = true, false, false
	dg.Identify.Intents = discordgo.IntentsAllWithoutPrivileged | discordgo.IntentMessageContent | discordgo.IntentGuildMembers
	dg.AddHandler(func(_ *discordgo.Session, e *discordgo.Event) { s.events <- e })
	t.Cleanup(func() { _ = dg.Close() })
	return s
}

func (s *scene) open() *scene {
	s.Helper()
	if err := s.dg.Open(); err != nil {
		s.Fatal(err)
	}
	return s
}

// next waits for an event of a kind.
func (s *scene) next(kind string) *discordgo.Event {
	s.Helper()
	bound := time.NewTimer(20 * time.Second)
	defer bound.Stop()
	for {
		select {
		case e := <-s.events:
			if e.Type == kind {
				return e
			}
		case <-bound.C:
			s.Fatalf("no %s came", kind)
		}
	}
}

func as[E any](s *scene, kind string) *E {
	s.Helper()
	e, is := s.next(kind).Struct.(*E)
	if !is {
		s.Fatalf("%s is no %T", kind, new(E))
	}
	return e
}

func (s *scene) until(what string, done func() bool) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), 20*time.Second)
	defer cancel()
	if err := s.srv.Wait(ctx, done); err != nil {
		s.Fatalf("waited in vain for %s", what)
	}
}

// code gives the status and the JSON error code of an answer.
func code(err error) (status, code int) {
	var e *discordgo.RESTError
	if !errors.As(err, &e) || e.Message == nil {
		return 0, 0
	}
	return e.Response.StatusCode, e.Message.Code
}

func TestConnect(t *testing.T) {
	t.Parallel()
	s := newScene(t).open()
	ready := as[discordgo.Ready](s, "READY")
	if ready.User.ID != discordtest.BotID || len(ready.Guilds) != 1 {
		t.Errorf("ready %+v", ready)
	}
	g := as[discordgo.GuildCreate](s, "GUILD_CREATE")
	if g.Name != "House" || len(g.Channels) != 2 || len(g.Threads) != 1 || len(g.Roles) != 3 {
		t.Errorf("guild %+v", g.Guild)
	}
	bot, err := s.dg.GatewayBot()
	if err != nil || bot.SessionStartLimit.Remaining != 999 {
		t.Errorf("%+v, %v", bot, err)
	}
	me, err := s.dg.User("@me")
	if err != nil || me.Username != discordtest.BotName {
		t.Errorf("%+v, %v", me, err)
	}
	if st := s.srv.Stats(); st.Identifies != 1 || st.Open != 1 || !s.srv.Ready() {
		t.Errorf("%+v", st)
	}
}

func TestGuildsMayComeFirst(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.srv.Next(discordtest.Link{GuildsFirst: true})
	s.open()
	if e := <-s.events; e.Type != "GUILD_CREATE" {
		t.Errorf("%s came first", e.Type)
	}
	s.next("READY")
}

func TestMessagesOfPeople(t *testing.T) {
	t.Parallel()
	s := newScene(t).open()
	first := s.srv.Say(general, anna, "hello <@"+bert+"> and <@&"+cooks+">")
	m := as[discordgo.MessageCreate](s, "MESSAGE_CREATE")
	if m.ID != first || m.GuildID != house || m.Author.GlobalName != "Anna" || m.Mentions[0].ID != bert || m.MentionRoles[0] != cooks || m.Member.Roles[0] != cooks {
		t.Errorf("%+v", m.Message)
	}
	s.srv.Say(general, bert, "yes", discordtest.ReplyTo(first))
	m = as[discordgo.MessageCreate](s, "MESSAGE_CREATE")
	if m.Type != discordgo.MessageTypeReply || m.ReferencedMessage.ID != first || m.Mentions[0].ID != anna {
		t.Errorf("reply %+v", m.Message)
	}
	s.srv.Say(thread, anna, "in here", discordtest.ByWebhook("800000000000000001", "hook"))
	if m = as[discordgo.MessageCreate](s, "MESSAGE_CREATE"); m.ChannelID != thread || m.WebhookID == "" || m.Member != nil {
		t.Errorf("webhook %+v", m.Message)
	}
	dm := s.srv.AddDM(anna)
	s.srv.Say(dm, anna, "", discordtest.Forward(general, first))
	if m = as[discordgo.MessageCreate](s, "MESSAGE_CREATE"); m.GuildID != "" || len(m.MessageSnapshots) != 1 || m.MessageReference.MessageID != first {
		t.Errorf("forwarded %+v", m.Message)
	}
	c, err := s.dg.Channel(dm)
	if err != nil || c.Type != discordgo.ChannelTypeDM || c.Recipients[0].ID != anna {
		t.Errorf("%+v, %v", c, err)
	}
	s.srv.Say(trio, bert, "three of us")
	s.next("MESSAGE_CREATE")
	s.srv.Edit(general, first, "changed")
	if u := as[discordgo.MessageUpdate](s, "MESSAGE_UPDATE"); u.Content != "changed" || u.EditedTimestamp == nil {
		t.Errorf("edited %+v", u.Message)
	}
	s.srv.Unfurl(thread, lastOf(s, thread))
	if u := as[discordgo.MessageUpdate](s, "MESSAGE_UPDATE"); u.EditedTimestamp != nil {
		t.Error("a preview of a link looks like an edit")
	}
	s.srv.React(general, first, bert, "👍")
	if r := as[discordgo.MessageReactionAdd](s, "MESSAGE_REACTION_ADD"); r.UserID != bert || r.Emoji.Name != "👍" || r.MessageID != first {
		t.Errorf("%+v", r.MessageReaction)
	}
	s.srv.Unreact(general, first, bert, "👍")
	s.next("MESSAGE_REACTION_REMOVE")
	s.srv.Delete(general, first)
	if d := as[discordgo.MessageDelete](s, "MESSAGE_DELETE"); d.ID != first || d.GuildID != house {
		t.Errorf("%+v", d.Message)
	}
}

// lastOf asks for the newest message of a channel.
func lastOf(s *scene, channel string) string {
	s.Helper()
	list, err := s.dg.ChannelMessages(channel, 1, "", "", "")
	if err != nil || len(list) != 1 {
		s.Fatal(list, err)
	}
	return list[0].ID
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	s := newScene(t).open()
	s.srv.Join(house, "200000000000000003")
	if j := as[discordgo.GuildMemberAdd](s, "GUILD_MEMBER_ADD"); j.User.ID != "200000000000000003" || j.GuildID != house {
		t.Errorf("%+v", j.Member)
	}
	s.srv.Leave(house, "200000000000000003")
	s.next("GUILD_MEMBER_REMOVE")
	s.srv.Rename(garden, "yard")
	if c := as[discordgo.ChannelUpdate](s, "CHANNEL_UPDATE"); c.Name != "yard" {
		t.Errorf("%+v", c.Channel)
	}
	id := s.srv.StartThread(garden, bert, "roses", "")
	if c := as[discordgo.ThreadCreate](s, "THREAD_CREATE"); c.ID != id || c.ParentID != garden || !c.NewlyCreated {
		t.Errorf("%+v", c.Channel)
	}
	s.srv.Rename(id, "tulips")
	s.next("THREAD_UPDATE")
	s.srv.Join(id, anna)
	s.next("THREAD_MEMBERS_UPDATE")
	s.srv.Nickname(house, anna, "Boss")
	s.next("GUILD_MEMBER_UPDATE")
	s.srv.Remove(id)
	s.next("THREAD_DELETE")
	s.srv.Outage(house)
	if d := as[discordgo.GuildDelete](s, "GUILD_DELETE"); !d.Unavailable {
		t.Error("an outage looks like a dismissal")
	}
	s.srv.Leave(house, discordtest.BotID)
	s.next("GUILD_DELETE")
	if _, err := s.dg.ChannelMessageSend(garden, "hello?"); !is(err, http.StatusForbidden, 50001) {
		t.Error(err)
	}
}

func is(err error, status, want int) bool {
	got, json := code(err)
	return got == status && json == want
}

func TestWhatTheBotPosts(t *testing.T) {
	t.Parallel()
	s := newScene(t).open()
	asked := s.srv.Say(general, anna, "question")
	none := &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}}
	m, err := s.dg.ChannelMessageSendComplex(general, &discordgo.MessageSend{
		Content: "answer for <@" + bert + "> @everyone", AllowedMentions: none,
		Reference: &discordgo.MessageReference{MessageID: asked, ChannelID: general, GuildID: house},
		Files:     []*discordgo.File{{Name: "a b.txt", ContentType: "text/plain", Reader: strings.NewReader("data")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.dg.ChannelMessageSend(thread, "hey <@"+bert+">"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.dg.ChannelMessageEdit(general, m.ID, "better"); err != nil {
		t.Fatal(err)
	}
	sent := s.srv.Sent(general)
	if len(sent) != 1 || sent[0].Text != "better" || sent[0].Edits != 1 || sent[0].ReplyTo != asked || len(sent[0].Pinged) != 0 || string(sent[0].Files[0].Data) != "data" {
		t.Errorf("%+v", sent)
	}
	if sent := s.srv.Sent(thread); len(sent) != 1 || !slices.Equal(sent[0].Pinged, []string{bert}) {
		t.Errorf("%+v", sent)
	}
	if err := errors.Join(s.dg.MessageReactionAdd(general, asked, "👀"), s.dg.ChannelTyping(general)); err != nil {
		t.Fatal(err)
	}
	if s.srv.Typing(general) != 1 || !slices.Equal(s.srv.Reactions(general, asked), []string{"👀"}) {
		t.Error("typing or reaction is lost")
	}
	if err := errors.Join(s.dg.MessageReactionRemove(general, asked, "👀", "@me"), s.dg.ChannelMessageDelete(general, m.ID)); err != nil {
		t.Fatal(err)
	}
	if s.srv.Reactions(general, asked) != nil || !s.srv.Sent(general)[0].Deleted {
		t.Error("the reaction or the message is still there")
	}
	dm, err := s.dg.UserChannelCreate(bert)
	if err != nil || dm.ID != s.srv.AddDM(bert) {
		t.Errorf("%+v, %v", dm, err)
	}
	if got := len(s.srv.Calls("POST " + discordtest.RouteMessages)); got != 2 {
		t.Errorf("%d posts", got)
	}
}
