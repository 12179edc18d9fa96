package router_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
	"parley/router/inbound"
	"parley/router/routertest"
	"parley/router/turn"
	"parley/sessions"
)

// fileNames gives the files of a message, in their order.
func fileNames(m sessions.Message) string {
	var all []string
	for _, b := range m.Content {
		if b.Media != nil {
			all = append(all, b.Media.Ref)
		}
	}
	return strings.Join(all, " ")
}

func mediaOf(refs ...string) (files []channels.Media) {
	for _, ref := range refs {
		files = append(files, channels.Media{Kind: channels.Document, Ref: ref, ID: "of " + ref, Name: ref})
	}
	return files
}

// turnOf gives what the run of a message was asked, as the store and the transcript have it.
func turnOf(g *routertest.Rig, id channels.MessageID, to channels.Address, from string) sessions.Message {
	g.T.Helper()
	for _, m := range g.Transcript(g.Router.Key(channels.Inbound{Address: to, Sender: routertest.Person(from)})) {
		if m.Role == sessions.User && m.Provenance.Message == string(id) {
			return m
		}
	}
	g.T.Fatalf("no turn of %s", id)
	return sessions.Message{}
}

// An edit that puts another file in a message's place, or takes one away, changes the message while it is being answered; the files of
// what it quotes stay. Later the agent is told, by the names of the files. An edit that says the same once more is none.
// source: https://core.telegram.org/bots/api#editmessagemedia; https://docs.discord.com/developers/resources/message#edit-message ("attachments")
func TestEditOfFiles(t *testing.T) {
	for name, c := range map[string]struct {
		now, want string
		same      bool
	}{
		"another": {now: "b.pdf", want: "b.pdf q.pdf"}, "none": {want: "q.pdf"}, "one more": {now: "a.pdf b.pdf", want: "a.pdf b.pdf q.pdf"},
		"as they were": {now: "unknown.pdf", want: "a.pdf q.pdf", same: true}, // WhatsApp changes words only
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				stuck(g)
				to := routertest.Direct(routertest.Guest)
				quote := &channels.Quote{ID: "q", Sender: "Ann", Media: mediaOf("q.pdf")}
				edit := channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Guest), Text: "look", Media: mediaOf(strings.Fields(c.now)...), SameFiles: c.same, Quote: quote}
				if c.same {
					edit.Text = "look again"
				}
				asked := g.Fake.Say(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Text: "look", Media: mediaOf("a.pdf"), Quote: quote})
				edit.Target = asked.ID
				g.Until("it is at work", func() bool { return g.Model.Count() == 1 })
				g.Happens(edit)
				g.Shown(1)
				m := turnOf(g, asked.ID, to, routertest.Guest)
				if got := fileNames(m); got != c.want || strings.Count(m.Text(), "<media:") != len(strings.Fields(c.want))-1 {
					t.Errorf("answered %q with %s, not %s", m.Text(), got, c.want)
				}
				if got := fileNames(g.Runs()[0].Input); got != c.want {
					t.Errorf("the run has %s", got)
				}
				g.Happens(edit)
				edit.Media, edit.SameFiles = mediaOf("late.pdf"), false
				g.Happens(edit)
				next := g.Say(to, routertest.Guest, "next")
				g.Shown(2)
				want := `"` + routertest.Guest + `" changed a message "` + edit.Text
				for ref := range strings.FieldsSeq(strings.TrimSuffix(c.want, "q.pdf")) {
					want += `\n[file ` + ref + `]`
				}
				if got := strings.Join(routertest.Told(turnOf(g, next.ID, to, routertest.Guest)), "|"); got != want+`" to: "`+edit.Text+`\n[file late.pdf]"` {
					t.Errorf("told %s", got)
				}
			})
		})
	}
}

// What the platform adds because of a link is no news, in either direction, also while the message is being answered.
// source: https://core.telegram.org/bots/api#linkpreviewoptions
func TestEditThatShowsAPreview(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Direct(routertest.Guest)
		rest := g.Busy(to, routertest.Guest)
		const preview = "\n[preview: https://x.y/]"
		asked := g.Say(to, routertest.Guest, "see this")
		g.Taken(2)
		for _, add := range []string{preview, ""} {
			g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Guest), Target: asked.ID, Text: "see this" + add, Preview: add})
		}
		rest()
		g.Until("all is over", g.AllOver)
		if got := written(g, to, routertest.Guest); got != "work|see this" {
			t.Errorf("the transcript has %q", got)
		}
	})
}

// In a group a message brings along what its sender sent with it before, once: the beginning of a text that the platform's app has cut,
// whole, and what is forwarded ahead of the comment, with its files. What others say, or what was said before, is background.
// source: Bot API, "sendMessage": 4096 characters; NousResearch/hermes-agent#6888; openclaw/openclaw#6263
func TestMentionBehindItsParts(t *testing.T) {
	whole := strings.Repeat("word ", 4096/5)
	for name, c := range map[string]struct {
		first []channels.Inbound
		apart time.Duration
		brief bool // nothing is brought along
	}{
		"paste":          {first: []channels.Inbound{{Text: whole}, {Text: whole}}},
		"forward":        {first: []channels.Inbound{{Text: "We offer 50k", Forwarded: true, Origin: "Ann", Media: mediaOf("offer.pdf")}, {Forwarded: true, Media: mediaOf("plan.pdf")}}},
		"long ago":       {first: []channels.Inbound{{Text: whole}}, apart: 3 * time.Second, brief: true},
		"not at the end": {first: []channels.Inbound{{Text: whole[:3000]}}, brief: true},
		"of another":     {first: []channels.Inbound{{Text: whole, Sender: routertest.Person(routertest.Owner)}}, brief: true},
		"deleted":        {first: []channels.Inbound{{Text: whole}, {Event: channels.Deleted}}, brief: true},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{Limits: channels.Limits{Text: 4096, Unit: channels.UTF16}})
				to := routertest.Group("g")
				var last channels.Inbound
				for _, in := range c.first {
					if in.Address = to; in.Sender.ID == "" {
						in.Sender = routertest.Person(routertest.Guest)
					}
					in.Target = last.ID
					last = g.Fake.Say(in)
					<-time.After(10 * time.Millisecond)
				}
				<-time.After(c.apart)
				began := time.Now()
				var at time.Time
				g.Model.Set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
					at = time.Now()
					return routertest.Text("ok"), nil
				})
				asked := g.Fake.Say(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Text: "please sum up", Mentioned: true})
				g.Shown(1)
				if at.Sub(began) > 10*time.Millisecond {
					t.Errorf("it began after %s", at.Sub(began))
				}
				m := turnOf(g, asked.ID, to, routertest.Guest)
				want, files, lines := "", "", len(c.first)
				if !c.brief {
					lines = 0
					for _, in := range c.first {
						want += strings.TrimSpace(turn.Spoken(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Media: in.Media}, inbound.PassedOn(in, in.Text))) + "\n"
						for _, f := range in.Media {
							files += " " + f.Ref
						}
					}
				}
				if name == "deleted" {
					lines = 0
				}
				if want += routertest.Guest + ": please sum up"; m.Text() != want || fileNames(m) != strings.TrimSpace(files) || len(routertest.Told(m)) != lines {
					t.Errorf("answered %.80q (%d bytes, not %d), files %q, told %d lines, not %d", m.Text(), len(m.Text()), len(want), fileNames(m), len(routertest.Told(m)), lines)
				}
				g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Guest), Target: asked.ID, Text: "please sum up"})
				again := g.Fake.Say(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Text: "and?", Mentioned: true})
				g.Shown(2)
				if m := turnOf(g, again.ID, to, routertest.Guest); m.Text() != routertest.Guest+": and?" || len(routertest.Told(m)) != 0 {
					t.Errorf("then %.80q, told %q", m.Text(), routertest.Told(m))
				}
			})
		})
	}
}

// What is forwarded stays with its comment when another group has a change of a message with the same id, or somebody reacts to it.
// source: https://core.telegram.org/bots/api#message ("message_id": unique inside its chat)
func TestForwardOutlivesEventsElsewhere(t *testing.T) {
	for name, e := range map[string]channels.Inbound{
		"edit":     {Event: channels.Edited, Address: routertest.Group("other"), Text: "changed"},
		"deletion": {Event: channels.Deleted, Address: routertest.Group("other")},
		"reaction": {Event: channels.Reacted, Address: routertest.Group("g"), Emoji: "👍"},
	} {
		t.Run(name, func(t *testing.T) {
			routertest.Bubble(t, func(t *testing.T) {
				g := routertest.New(t, channeltest.Options{})
				to := routertest.Group("g")
				e.Target = g.Fake.Say(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Text: "We offer 50k", Forwarded: true, Origin: "Ann"}).ID
				e.Sender = routertest.Person(routertest.Guest)
				g.Happens(e)
				asked := g.Say(to, routertest.Guest, "please sum up")
				g.Shown(1)
				if m := turnOf(g, asked.ID, to, routertest.Guest); !strings.Contains(m.Text(), "We offer 50k") || len(routertest.Told(m)) != 0 {
					t.Errorf("answered %q, told %q", m.Text(), routertest.Told(m))
				}
			})
		})
	}
}

// A forward that was edited is brought along in its new words, also when the platform offers the old event once more behind the edit.
// source: https://core.telegram.org/bots/api#getting-updates (an update that was not confirmed is offered again)
func TestEditedForwardOfferedAgain(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Group("g")
		forward := g.Fake.Say(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Text: "We offer 50k", Forwarded: true, Origin: "Ann"})
		g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Guest), Target: forward.ID, Text: "We offer 60k"})
		g.Fake.Say(forward)
		asked := g.Say(to, routertest.Guest, "please sum up")
		g.Shown(1)
		m := turnOf(g, asked.ID, to, routertest.Guest)
		if all := m.Text() + strings.Join(routertest.Told(m), " "); !strings.Contains(all, "60k") || strings.Contains(m.Text(), "50k") {
			t.Errorf("answered %q, told %q", m.Text(), routertest.Told(m))
		}
	})
}

// An edit of one message of a gesture replaces that one only, whether the turn has begun with it alone, with all, or not at all.
// source: docs/chats.md, "What a person sends with one gesture is one turn"
func TestEditOfAPart(t *testing.T) {
	whole := strings.Repeat("word ", 4096/5)
	for _, to := range []channels.Address{routertest.Direct(routertest.Guest), routertest.Group("g")} {
		for _, addressed := range []int{0, 1} { // which of the two is meant for the bot
			t.Run(string(to.Type)+"/"+map[int]string{0: "first", 1: "last"}[addressed], func(t *testing.T) {
				routertest.Bubble(t, func(t *testing.T) {
					g := routertest.New(t, channeltest.Options{Limits: channels.Limits{Text: 4096, Unit: channels.UTF16}})
					stuck(g)
					var said []channels.Inbound
					for i, words := range []string{whole, "the end"} {
						said = append(said, g.Fake.Say(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Text: words, Mentioned: i == addressed && to.Type.Several(), Media: mediaOf(words[:3])}))
					}
					g.Until("it is at work", func() bool { return g.Model.Count() >= 1 })
					g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Guest), Target: said[1].ID, Text: "another end", Media: mediaOf("new")})
					g.Shown(1)
					all, files := "", ""
					for _, m := range g.Transcript(g.Router.Key(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest)})) {
						if m.Role == sessions.User {
							all, files = all+m.Text(), files+" "+fileNames(m)
						}
					}
					sorted := strings.Contains(files, "wor") && strings.Contains(files, "new") && !strings.Contains(files, "the")
					if !strings.Contains(all, strings.TrimSpace(whole)) || !strings.Contains(all, "another end") || strings.Contains(all, "the end") || !sorted {
						t.Errorf("answered %d bytes with%s", len(all), files)
					}
				})
			})
		}
	}
}

// A word that asks to stop, by an edit of the message that is being answered, ends the turn; of one that waits, that message. No other
// command counts that was typed by an edit, and no model is asked about either.
// source: docs/chats.md, "What happens besides messages"
func TestEditIntoACommand(t *testing.T) {
	for _, to := range []channels.Address{routertest.Direct(routertest.Guest), routertest.Group("g")} {
		for _, words := range []string{"stop", "/stop", "/status", "/new"} {
			for _, waits := range []bool{false, true} {
				t.Run(string(to.Type)+"/"+words+map[bool]string{true: "/waits"}[waits], func(t *testing.T) {
					routertest.Bubble(t, func(t *testing.T) {
						g := routertest.New(t, channeltest.Options{}, routertest.EachAlone)
						rest := g.Busy(to, routertest.Guest)
						asked := g.Runs()[0].Input.Provenance.Message
						if waits {
							asked = string(g.Say(to, routertest.Guest, "second").ID)
							g.Taken(2)
						}
						g.Happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: routertest.Person(routertest.Guest), Target: channels.MessageID(asked), Text: words})
						rest()
						g.Until("all is over", g.AllOver)
						<-time.After(time.Minute)
						stops := strings.HasSuffix(words, "stop")
						for _, run := range g.Runs() {
							want := sessions.Done
							if run.Source == asked && stops {
								want = sessions.Stopped
							}
							if run.Status != want || strings.Contains(run.Input.Text(), words) {
								t.Errorf("%q is %s, not %s", run.Input.Text(), run.Status, want)
							}
						}
						if got := written(g, to, routertest.Guest); strings.Contains(got, words) {
							t.Errorf("the transcript has %q", got)
						}
						notices := 0
						for _, d := range g.Deliveries() {
							if d.Kind == sessions.Notice {
								if notices++; string(d.ReplyTo) != asked && to.Type.Several() {
									t.Errorf("%q answers %s", d.Text, d.ReplyTo)
								}
							}
						}
						if (notices == 1) != (stops && !waits) || notices > 1 {
							t.Errorf("%d answers to a command", notices)
						}
					})
				})
			}
		}
	}
}

// Talk among people names its files as quotes do.
// source: docs/chats.md, "What is said among people"
func TestOverheardFilesAreNamed(t *testing.T) {
	routertest.Bubble(t, func(t *testing.T) {
		g := routertest.New(t, channeltest.Options{})
		to := routertest.Group("g")
		g.Fake.Say(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Owner), Text: "cap", Media: []channels.Media{
			{Kind: channels.Document, Ref: "1", Name: "bg.pdf"}, {Kind: channels.Audio, Ref: "2", Voice: true, Seconds: 14}, {Kind: channels.Sticker, Ref: "3"}, {Kind: channels.Image, Ref: "4"},
		}})
		asked := g.Fake.Say(channels.Inbound{Address: to, Sender: routertest.Person(routertest.Guest), Text: "hi", Mentioned: true})
		g.Shown(1)
		if got := strings.Join(routertest.Told(turnOf(g, asked.ID, to, routertest.Guest)), "|"); got != `"`+routertest.Owner+`" said: "cap\n[file bg.pdf]\n[voice message, 14s]\n[sticker]\n[picture]"` {
			t.Errorf("told %s", got)
		}
	})
}
