package router

import (
	"context"
	"strings"
	"testing"
	"time"

	"parley/agent"
	"parley/channels"
	"parley/channels/channeltest"
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
func (g *rig) turnOf(id channels.MessageID, to channels.Address, from string) sessions.Message {
	g.t.Helper()
	for _, m := range g.transcript(g.r.Key(channels.Inbound{Address: to, Sender: person(from)})) {
		if m.Role == sessions.User && m.Provenance.Message == string(id) {
			return m
		}
	}
	g.t.Fatalf("no turn of %s", id)
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
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				g.stuck()
				to := direct(guest)
				quote := &channels.Quote{ID: "q", Sender: "Ann", Media: mediaOf("q.pdf")}
				edit := channels.Inbound{Event: channels.Edited, Address: to, Sender: person(guest), Text: "look", Media: mediaOf(strings.Fields(c.now)...), SameFiles: c.same, Quote: quote}
				if c.same {
					edit.Text = "look again"
				}
				asked := g.fake.Say(channels.Inbound{Address: to, Sender: person(guest), Text: "look", Media: mediaOf("a.pdf"), Quote: quote})
				edit.Target = asked.ID
				g.until("it is at work", func() bool { return g.model.count() == 1 })
				g.happens(edit)
				g.shown(1)
				m := g.turnOf(asked.ID, to, guest)
				if got := fileNames(m); got != c.want || strings.Count(m.Text(), "<media:") != len(strings.Fields(c.want))-1 {
					t.Errorf("answered %q with %s, not %s", m.Text(), got, c.want)
				}
				if got := fileNames(g.runs()[0].Input); got != c.want {
					t.Errorf("the run has %s", got)
				}
				g.happens(edit)
				edit.Media, edit.SameFiles = mediaOf("late.pdf"), false
				g.happens(edit)
				next := g.say(to, guest, "next")
				g.shown(2)
				want := `"` + guest + `" changed a message "` + edit.Text
				for ref := range strings.FieldsSeq(strings.TrimSuffix(c.want, "q.pdf")) {
					want += `\n[file ` + ref + `]`
				}
				if got := strings.Join(told(g.turnOf(next.ID, to, guest)), "|"); got != want+`" to: "`+edit.Text+`\n[file late.pdf]"` {
					t.Errorf("told %s", got)
				}
			})
		})
	}
}

// What the platform adds because of a link is no news, in either direction, also while the message is being answered.
// source: https://core.telegram.org/bots/api#linkpreviewoptions
func TestEditThatShowsAPreview(t *testing.T) {
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		to := direct(guest)
		rest := g.busy(to, guest)
		const preview = "\n[preview: https://x.y/]"
		asked := g.say(to, guest, "see this")
		g.taken(2)
		for _, add := range []string{preview, ""} {
			g.happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: person(guest), Target: asked.ID, Text: "see this" + add, Preview: add})
		}
		rest()
		g.until("all is over", g.allOver)
		if got := g.written(to, guest); got != "work|see this" {
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
		"of another":     {first: []channels.Inbound{{Text: whole, Sender: person(owner)}}, brief: true},
		"deleted":        {first: []channels.Inbound{{Text: whole}, {Event: channels.Deleted}}, brief: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{Limits: channels.Limits{Text: 4096, Unit: channels.UTF16}})
				to := groupChat("g")
				var last channels.Inbound
				for _, in := range c.first {
					if in.Address = to; in.Sender.ID == "" {
						in.Sender = person(guest)
					}
					in.Target = last.ID
					last = g.fake.Say(in)
					<-time.After(10 * time.Millisecond)
				}
				<-time.After(c.apart)
				began := time.Now()
				var at time.Time
				g.model.set(func(_ context.Context, p agent.Prompt) (agent.Answer, error) {
					at = time.Now()
					return text("ok"), nil
				})
				asked := g.fake.Say(channels.Inbound{Address: to, Sender: person(guest), Text: "please sum up", Mentioned: true})
				g.shown(1)
				if at.Sub(began) > 10*time.Millisecond {
					t.Errorf("it began after %s", at.Sub(began))
				}
				m := g.turnOf(asked.ID, to, guest)
				want, files, lines := "", "", len(c.first)
				if !c.brief {
					lines = 0
					for _, in := range c.first {
						want += strings.TrimSpace(spoken(channels.Inbound{Address: to, Sender: person(guest), Media: in.Media}, passedOn(in, in.Text))) + "\n"
						for _, f := range in.Media {
							files += " " + f.Ref
						}
					}
				}
				if name == "deleted" {
					lines = 0
				}
				if want += guest + ": please sum up"; m.Text() != want || fileNames(m) != strings.TrimSpace(files) || len(told(m)) != lines {
					t.Errorf("answered %.80q (%d bytes, not %d), files %q, told %d lines, not %d", m.Text(), len(m.Text()), len(want), fileNames(m), len(told(m)), lines)
				}
				g.happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: person(guest), Target: asked.ID, Text: "please sum up"})
				again := g.fake.Say(channels.Inbound{Address: to, Sender: person(guest), Text: "and?", Mentioned: true})
				g.shown(2)
				if m := g.turnOf(again.ID, to, guest); m.Text() != guest+": and?" || len(told(m)) != 0 {
					t.Errorf("then %.80q, told %q", m.Text(), told(m))
				}
			})
		})
	}
}

// What is forwarded stays with its comment when another group has a change of a message with the same id, or somebody reacts to it.
// source: https://core.telegram.org/bots/api#message ("message_id": unique inside its chat)
func TestForwardOutlivesEventsElsewhere(t *testing.T) {
	for name, e := range map[string]channels.Inbound{
		"edit":     {Event: channels.Edited, Address: groupChat("other"), Text: "changed"},
		"deletion": {Event: channels.Deleted, Address: groupChat("other")},
		"reaction": {Event: channels.Reacted, Address: groupChat("g"), Emoji: "👍"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				g := newRig(t, channeltest.Options{})
				to := groupChat("g")
				e.Target = g.fake.Say(channels.Inbound{Address: to, Sender: person(guest), Text: "We offer 50k", Forwarded: true, Origin: "Ann"}).ID
				e.Sender = person(guest)
				g.happens(e)
				asked := g.say(to, guest, "please sum up")
				g.shown(1)
				if m := g.turnOf(asked.ID, to, guest); !strings.Contains(m.Text(), "We offer 50k") || len(told(m)) != 0 {
					t.Errorf("answered %q, told %q", m.Text(), told(m))
				}
			})
		})
	}
}

// An edit of one message of a gesture replaces that one only, whether the turn has begun with it alone, with all, or not at all.
// source: docs/chats.md, "What a person sends with one gesture is one turn"
func TestEditOfAPart(t *testing.T) {
	whole := strings.Repeat("word ", 4096/5)
	for _, to := range []channels.Address{direct(guest), groupChat("g")} {
		for _, addressed := range []int{0, 1} { // which of the two is meant for the bot
			t.Run(string(to.Type)+"/"+map[int]string{0: "first", 1: "last"}[addressed], func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					g := newRig(t, channeltest.Options{Limits: channels.Limits{Text: 4096, Unit: channels.UTF16}})
					g.stuck()
					var said []channels.Inbound
					for i, words := range []string{whole, "the end"} {
						said = append(said, g.fake.Say(channels.Inbound{Address: to, Sender: person(guest), Text: words, Mentioned: i == addressed && to.Type.Several(), Media: mediaOf(words[:3])}))
					}
					g.until("it is at work", func() bool { return g.model.count() == 1 })
					g.happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: person(guest), Target: said[1].ID, Text: "another end", Media: mediaOf("new")})
					g.shown(1)
					all, files := "", ""
					for _, m := range g.transcript(g.r.Key(channels.Inbound{Address: to, Sender: person(guest)})) {
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
	for _, to := range []channels.Address{direct(guest), groupChat("g")} {
		for _, words := range []string{"stop", "/stop", "/status", "/new"} {
			for _, waits := range []bool{false, true} {
				t.Run(string(to.Type)+"/"+words+map[bool]string{true: "/waits"}[waits], func(t *testing.T) {
					bubble(t, func(t *testing.T) {
						g := newRig(t, channeltest.Options{}, eachAlone)
						rest := g.busy(to, guest)
						asked := g.runs()[0].Input.Provenance.Message
						if waits {
							asked = string(g.say(to, guest, "second").ID)
							g.taken(2)
						}
						g.happens(channels.Inbound{Event: channels.Edited, Address: to, Sender: person(guest), Target: channels.MessageID(asked), Text: words})
						rest()
						g.until("all is over", g.allOver)
						<-time.After(time.Minute)
						stops := strings.HasSuffix(words, "stop")
						for _, run := range g.runs() {
							want := sessions.Done
							if run.Source == asked && stops {
								want = sessions.Stopped
							}
							if run.Status != want || strings.Contains(run.Input.Text(), words) {
								t.Errorf("%q is %s, not %s", run.Input.Text(), run.Status, want)
							}
						}
						if got := g.written(to, guest); strings.Contains(got, words) {
							t.Errorf("the transcript has %q", got)
						}
						notices := 0
						for _, d := range g.deliveries() {
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
	bubble(t, func(t *testing.T) {
		g := newRig(t, channeltest.Options{})
		to := groupChat("g")
		g.fake.Say(channels.Inbound{Address: to, Sender: person(owner), Text: "cap", Media: []channels.Media{
			{Kind: channels.Document, Ref: "1", Name: "bg.pdf"}, {Kind: channels.Audio, Ref: "2", Voice: true, Seconds: 14}, {Kind: channels.Sticker, Ref: "3"}, {Kind: channels.Image, Ref: "4"},
		}})
		asked := g.fake.Say(channels.Inbound{Address: to, Sender: person(guest), Text: "hi", Mentioned: true})
		g.shown(1)
		if got := strings.Join(told(g.turnOf(asked.ID, to, guest)), "|"); got != `"`+owner+`" said: "cap\n[file bg.pdf]\n[voice message, 14s]\n[sticker]\n[picture]"` {
			t.Errorf("told %s", got)
		}
	})
}
