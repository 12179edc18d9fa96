package channeltest

import (
	"bytes"
	"context"
	"io"
	"iter"
	"slices"
	"time"

	"parley/channels"
)

// post sends a text to an address.
func (w *world) post(key string, to channels.Address, text string) channels.Receipt {
	w.Helper()
	r, err := w.ch.Send(context.Background(), channels.Outbound{Key: key, To: to, Text: text, Plain: text})
	if err != nil {
		w.Fatalf("sending %q: %v", text, err)
	}
	return r
}

// addresses has somebody write at each of the places that the platform has.
func (w *world) addresses(list ...Place) iter.Seq2[Place, channels.Address] {
	return func(yield func(Place, channels.Address) bool) {
		for _, at := range list {
			n := len(w.taken(0))
			if w.platform.Say(at, "where am I?") && !yield(at, w.taken(n + 1)[n].Address) {
				return
			}
		}
	}
}

// event waits for the first event of a kind.
func (w *world) event(kind channels.Event) channels.Inbound {
	w.Helper()
	is := func(in channels.Inbound) bool { return in.Event == kind }
	events := w.until("an event "+string(kind), func(events []channels.Inbound, _ int) bool { return slices.ContainsFunc(events, is) })
	return events[slices.IndexFunc(events, is)]
}

func checkAmended(w *world) {
	p := power[Amender](w)
	w.start()
	w.say(OneToOne, "the old text")
	said := w.taken(1)[0]
	if !p.Amend(OneToOne, "the old text", "the new text") {
		w.Fatal("nothing can be changed there; name the power in Harness.Without")
	}
	in := w.event(channels.Edited)
	if in.Target != said.ID || in.Text != "the new text" || in.Address != said.Address || in.Sender.ID != said.Sender.ID || in.ID == "" {
		w.Errorf("changed: %+v, said as %s", in, said.ID)
	}
	p.Amend(OneToOne, "the new text", "the newest text")
	ids := map[channels.MessageID]bool{}
	for _, in := range w.until("two changes", func(events []channels.Inbound, _ int) bool { return len(events) >= 3 })[1:] {
		ids[in.ID] = true
	}
	if len(ids) != 2 {
		w.Errorf("two changes have the ids %v: one would be taken for a repeat of the other", ids)
	}
	if !p.Withdraw(OneToOne, "the newest text") {
		return
	}
	if in := w.event(channels.Deleted); in.Target != said.ID || in.Address != said.Address {
		w.Errorf("taken back: %+v, said as %s", in, said.ID)
	}
}

func checkReactionsIn(w *world) {
	p := power[Reacting](w)
	w.start()
	r := w.post("k", w.address(OneToOne), "well?")
	if !p.React(OneToOne, r.ID, "👍") {
		w.Fatal("no reactions there; name the power in Harness.Without")
	}
	in := w.event(channels.Reacted)
	if in.Target != r.ID || in.Emoji != "👍" || in.Sender.ID == "" || in.ID == "" {
		w.Errorf("reaction to %s: %+v", r.ID, in)
	}
	p.Unreact(OneToOne, r.ID, "👍")
	gone := w.until("the reaction's end", func(events []channels.Inbound, _ int) bool { return len(events) >= 3 })[2]
	if gone.Event != channels.Reacted || gone.Target != r.ID || gone.Emoji != "" || gone.ID == in.ID {
		w.Errorf("taken away: %+v", gone)
	}
}

func checkReactionsOut(w *world) {
	p := power[Reacting](w)
	reactor := channels.Probe(w.ch).Reactor
	if reactor == nil {
		w.Fatal("the platform can, and the channel has no Reactor")
	}
	w.start()
	to := w.address(OneToOne)
	said := w.taken(1)[0]
	for _, emoji := range []string{"👀", "👍", ""} {
		if err := reactor.React(context.Background(), to, said.ID, emoji); err != nil {
			w.Fatalf("reacting with %q: %v", emoji, err)
		}
		want := []string{emoji}
		if emoji == "" {
			want = nil
		}
		if got := p.Reactions(to, said.ID); !slices.Equal(got, want) {
			w.Errorf("after %q: %q is below the message", emoji, got)
		}
	}
}

func checkQuotes(w *world) {
	p := power[Quoter](w)
	w.start()
	for at, to := range w.addresses(OneToOne, InGroup) {
		r, n := w.post(string(at), to, "a statement"), len(w.taken(0))
		if !p.Quote(at, r.ID, "an answer to it") {
			continue
		}
		in := w.taken(n + 1)[n]
		if in.Quote == nil || in.Quote.ID != r.ID || !in.Quote.FromBot || in.Text != "an answer to it" {
			w.Errorf("%s: %+v, quote %+v; it answers %s", at, in, in.Quote, r.ID)
		}
		if to.Type.Several() && !in.Mentioned {
			w.Errorf("%s: who answers the bot means the bot", at)
		}
	}
}

func checkTyping(w *world) {
	p := power[Typist](w)
	typer := channels.Probe(w.ch).Typer
	if typer == nil {
		w.Fatal("the platform can, and the channel has no Typer")
	}
	w.start()
	for at, to := range w.addresses(OneToOne, InGroup, InThread) {
		before, shown := p.Typing(to), len(w.platform.Shown(to))
		if err := typer.Typing(context.Background(), to); err != nil {
			w.Errorf("%s: %v", at, err)
		}
		if p.Typing(to) != before+1 || len(w.platform.Shown(to)) != shown {
			w.Errorf("%s: typing seen %d times, then %d times; shown: %v", at, before, p.Typing(to), w.platform.Shown(to))
		}
	}
}

func checkEdit(w *world) {
	editor := channels.Probe(w.ch).Editor
	if editor == nil {
		return
	}
	w.start()
	to := w.address(OneToOne)
	r := w.post("k", to, "first version")
	for _, text := range []string{"second version", "second version", "third version"} { // the same again is no error
		out := channels.Outbound{Key: "k", To: to, Text: text, Plain: text}
		if err := editor.Edit(context.Background(), r.ID, out); err != nil {
			w.Fatalf("editing to %q: %v", text, err)
		}
		if got := w.platform.Shown(to); !slices.Equal(got, []string{text}) {
			w.Errorf("shown: %v", got)
		}
	}
}

func checkRemove(w *world) {
	remover := channels.Probe(w.ch).Remover
	if remover == nil {
		return
	}
	w.start()
	to := w.address(OneToOne)
	w.post("1", to, "stays")
	r := w.post("2", to, "goes")
	for range 2 { // what is gone already is no error
		if err := remover.Remove(context.Background(), to, r.ID); err != nil {
			w.Fatal(err)
		}
	}
	if got := w.platform.Shown(to); !slices.Equal(got, []string{"stays"}) {
		w.Errorf("shown: %v", got)
	}
}

func checkFilesIn(w *world) {
	p := power[Sharer](w)
	fetcher := channels.Probe(w.ch).Fetcher
	if fetcher == nil {
		w.Fatal("the platform can, and the channel has no Fetcher")
	}
	w.start()
	for i, f := range []SharedFile{
		{Kind: channels.Image, Name: "dot.png", MIME: "image/png", Data: pixel},
		{Kind: channels.Document, Name: "notes.txt", MIME: "text/plain", Data: bytes.Repeat([]byte("a line of notes\n"), 5000)},
		{Kind: channels.Audio, Name: "voice.ogg", MIME: "audio/ogg", Data: bytes.Repeat([]byte("OggS"), 900)},
	} {
		if !p.Share(OneToOne, "look at this", f) {
			w.Fatal("no files there; name the power in Harness.Without")
		}
		in := w.taken(i + 1)[i]
		if f.Kind == channels.Audio && in.Text == "" { // a voice message has no caption on most platforms
			in.Text = "look at this"
		}
		if in.Text != "look at this" || len(in.Media) != 1 || in.Media[0].Kind != f.Kind || in.Media[0].Ref == "" {
			w.Fatalf("%s came as %+v", f.Name, in)
		}
		m := in.Media[0]
		got, err := fetcher.Fetch(context.Background(), m, 1<<20)
		if err != nil || !bytes.Equal(got, f.Data) {
			w.Errorf("%s: %d bytes of %d, %v", f.Name, len(got), len(f.Data), err)
		}
		if _, err := fetcher.Fetch(context.Background(), m, int64(len(f.Data))-1); err == nil {
			w.Errorf("%s: more bytes than the limit were read", f.Name)
		} else if e := w.failure("Fetch", err); e.Class != channels.Rejected {
			w.Errorf("%s is larger than the limit: %v", f.Name, err)
		}
	}
}

// pixel is a picture of one pixel.
var pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x56\xc7\x2f\x0d\x00\x00\x00\x00IEND\xaeB`\x82")

func checkFilesOut(w *world) {
	p := power[Sharer](w)
	w.start()
	for at, to := range w.addresses(OneToOne, InThread) {
		if w.ch.Limits(to).Files == 0 {
			continue
		}
		var sent []SharedFile
		for _, f := range []SharedFile{
			{Kind: channels.Document, Name: "report.txt", MIME: "text/plain", Data: bytes.Repeat([]byte("figures "), 4000)},
			{Kind: channels.Image, Name: "dot.png", MIME: "image/png", Data: pixel},
		} {
			out := channels.Outbound{Key: string(at) + f.Name, To: to, Text: "here it is", Plain: "here it is", Files: []channels.File{file(f)}}
			if r, err := w.ch.Send(context.Background(), out); err != nil || r.ID == "" {
				w.Fatalf("%s, %s: %+v, %v", at, f.Name, r, err)
			}
			sent = append(sent, f)
		}
		got := p.Files(to)
		if len(got) != len(sent) {
			w.Fatalf("%s: %d files of %d arrived", at, len(got), len(sent))
		}
		for i, f := range sent {
			if got[i].Kind != f.Kind || !bytes.Equal(got[i].Data, f.Data) || got[i].Name != "" && got[i].Name != f.Name {
				w.Errorf("%s: %s of %d bytes arrived as %s %s of %d", at, f.Name, len(f.Data), got[i].Kind, got[i].Name, len(got[i].Data))
			}
		}
		if shown := w.platform.Shown(to); w.ch.Limits(to).Caption > 0 && !slices.Equal(shown, []string{"here it is", "here it is"}) {
			w.Errorf("%s: shown with the files: %q", at, shown)
		}
	}
}

func file(f SharedFile) channels.File {
	return channels.File{Kind: f.Kind, Name: f.Name, MIME: f.MIME, Size: int64(len(f.Data)),
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.Data)), nil }}
}

func checkMembers(w *world) {
	p := power[Membership](w)
	w.start()
	where := w.address(InGroup)
	if !p.Join(InGroup, "Nora") {
		w.Fatal("nobody comes and goes there; name the power in Harness.Without")
	}
	for _, kind := range []channels.Event{channels.Joined, channels.Left} {
		in := w.event(kind)
		if in.Address != where || len(in.People) != 1 || in.People[0].ID == "" || in.Self || in.ID == "" {
			w.Errorf("%s: %+v", kind, in)
		}
		if kind == channels.Joined {
			p.Leave(InGroup, "Nora")
		}
	}
}

// checkLost is a kill between "the platform took it" and "the receipt is written".
func checkLost(w *world) {
	p := power[Loser](w)
	w.start()
	to := w.address(OneToOne)
	out := channels.Outbound{Key: "lost", To: to, Text: "shown once", Plain: "shown once"}
	p.Lose(to)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := w.ch.Send(ctx, out)
	if err == nil {
		w.Fatal("Send worked although nothing answered")
	}
	if e := w.failure("Send", err); e.Class != channels.Ambiguous {
		w.Errorf("the answer was lost: %v", err)
	}
	w.restart()
	w.address(Another) // it is connected
	if got := w.platform.Shown(to); !slices.Equal(got, []string{out.Text}) {
		w.Fatalf("shown: %v", got)
	}
	if rec := channels.Probe(w.ch).Reconciler; rec != nil {
		r, there, err := rec.Arrived(context.Background(), out)
		if err != nil || !there || r.ID == "" {
			w.Errorf("arrived: %v %+v, %v", there, r, err)
		}
		other := out
		other.Key, other.Text, other.Plain = "never", "never sent", "never sent"
		if _, there, err := rec.Arrived(context.Background(), other); err != nil || there {
			w.Errorf("what was never sent arrived: %v, %v", there, err)
		}
	}
	if w.ch.Limits(to).Idempotent {
		r, err := w.ch.Send(context.Background(), out)
		if got := w.platform.Shown(to); err != nil || r.ID == "" || len(got) != 1 {
			w.Errorf("sent again with its key: %+v, %v; shown: %v", r, err, got)
		}
	}
}

// checkStalled is a platform that never answers: the end of the context ends the call.
func checkStalled(w *world) {
	p := power[Staller](w)
	w.start()
	to := w.address(OneToOne)
	p.Stall(to)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := w.ch.Send(ctx, channels.Outbound{Key: "k", To: to, Text: "x", Plain: "x"})
	if took := time.Since(began); err == nil || took > 1300*time.Millisecond {
		w.Errorf("it took %s, error %v", took, err)
	}
	if e := w.failure("Send", err); e.Class != channels.Ambiguous && e.Class != channels.Transient {
		w.Errorf("no answer: %v", err)
	}
	w.post("other", w.address(Another), "others go on")
}

func checkMenu(w *world) {
	p := power[Menu](w)
	commander := channels.Probe(w.ch).Commander
	if commander == nil {
		w.Fatal("the platform can, and the channel has no Commander")
	}
	w.start()
	w.address(OneToOne)
	cmds := []channels.Command{{Name: "status", Description: "How things are."}, {Name: "send", Description: "What may leave."}}
	for range 3 {
		if err := commander.Publish(context.Background(), cmds); err != nil {
			w.Fatal(err)
		}
	}
	if n := p.Published(); n != 1 {
		w.Errorf("an unchanged list was written %d times", n)
	}
	w.restart()
	w.address(OneToOne)
	commander = channels.Probe(w.ch).Commander
	if err := commander.Publish(context.Background(), cmds); err != nil || p.Published() != 1 {
		w.Errorf("after a restart: %v, written %d times", err, p.Published())
	}
	if err := commander.Publish(context.Background(), cmds[:1]); err != nil || p.Published() != 2 {
		w.Errorf("a changed list: %v, written %d times", err, p.Published())
	}
}
