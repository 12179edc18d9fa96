package telegram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"parley/channels"
)

var testDecoder = decoder{account: "main", me: identity{ID: 99, Username: "Parley_Bot"}}

// decodeOne decodes one message in a group, given its fields beyond the usual ones.
func decodeOne(t *testing.T, fields string) item {
	t.Helper()
	raw := fmt.Sprintf(`[{"update_id":7,"message":{"message_id":5,"date":1700000000,"chat":{"id":-100,"type":"supergroup","title":"G","is_forum":true},
		"from":{"id":1,"is_bot":false,"first_name":"Ann","last_name":"A."},%s}}]`, fields)
	items, err := testDecoder.batch(json.RawMessage(raw))
	if err != nil || len(items) != 1 {
		t.Fatalf("%v, %d items", err, len(items))
	}
	return items[0]
}

func TestMentions(t *testing.T) {
	t.Parallel()
	type want struct {
		Mentioned, Others bool
		Addressed         string
	}
	for name, c := range map[string]struct {
		fields string
		want   want
	}{
		"none":              {`"text":"hello"`, want{}},
		"ours":              {`"text":"@parley_bot hello","entities":[{"type":"mention","offset":0,"length":11}]`, want{true, false, "hello"}},
		"ours, with colon":  {`"text":"@Parley_Bot: hello","entities":[{"type":"mention","offset":0,"length":11}]`, want{true, false, "hello"}},
		"ours, in between":  {`"text":"hey @parley_bot how","entities":[{"type":"mention","offset":4,"length":11}]`, want{true, false, "hey how"}},
		"ours, alone":       {`"text":"@parley_bot","entities":[{"type":"mention","offset":0,"length":11}]`, want{true, false, ""}},
		"after emoji":       {`"text":"😀😀 @parley_bot x","entities":[{"type":"mention","offset":5,"length":11}]`, want{true, false, "😀😀 x"}},
		"another's":         {`"text":"@somebody hello","entities":[{"type":"mention","offset":0,"length":9}]`, want{false, true, ""}},
		"both":              {`"text":"@parley_bot @somebody","entities":[{"type":"mention","offset":0,"length":11},{"type":"mention","offset":12,"length":9}]`, want{true, true, "@somebody"}},
		"by id":             {`"text":"Parley hello","entities":[{"type":"text_mention","offset":0,"length":6,"user":{"id":99,"is_bot":true,"first_name":"P"}}]`, want{true, false, "hello"}},
		"another by id":     {`"text":"Bert hello","entities":[{"type":"text_mention","offset":0,"length":4,"user":{"id":3,"is_bot":false,"first_name":"B"}}]`, want{false, true, ""}},
		"command":           {`"text":"/status now","entities":[{"type":"bot_command","offset":0,"length":7}]`, want{}},
		"command for us":    {`"text":"/status@parley_bot now","entities":[{"type":"bot_command","offset":0,"length":18}]`, want{true, false, "/status now"}},
		"command for other": {`"text":"/status@other_bot now","entities":[{"type":"bot_command","offset":0,"length":17}]`, want{false, true, ""}},
		"in a caption":      {`"caption":"@parley_bot look","photo":[{"file_id":"f","width":1,"height":1}],"caption_entities":[{"type":"mention","offset":0,"length":11}]`, want{true, false, "look"}},
		"in code":           {`"text":"@parley_bot","entities":[{"type":"code","offset":0,"length":11}]`, want{}},
		"unmarked":          {`"text":"hey @Parley_Bot how"`, want{true, false, "hey how"}},
		"unmarked command":  {`"text":"/status@parley_bot"`, want{true, false, "/status"}},
		"unmarked mail":     {`"text":"me@parley_bot.example, @parley_bots"`, want{}},
		"outside":           {`"text":"hello","entities":[{"type":"mention","offset":-1,"length":5},{"type":"mention","offset":3,"length":99},{"type":"mention","offset":9223372036854775807,"length":9223372036854775807}]`, want{}},
		"half a character":  {`"text":"😀@parley_bot","entities":[{"type":"mention","offset":1,"length":12}]`, want{}},
		"half in between":   {`"text":"@parley_bot😀 x","entities":[{"type":"mention","offset":0,"length":12}]`, want{}},
		"half at the end":   {`"text":"@parley_bot😀","entities":[{"type":"mention","offset":0,"length":12}]`, want{}},
		"reply to us":       {`"text":"yes","reply_to_message":{"message_id":4,"from":{"id":99,"is_bot":true,"first_name":"P"},"text":"sure?"}`, want{true, false, ""}},
		"reply to other":    {`"text":"yes","reply_to_message":{"message_id":4,"from":{"id":3,"is_bot":false,"first_name":"B"},"text":"sure?"}`, want{}},
		"our topic, bare":   {`"text":"x","message_thread_id":4,"is_topic_message":true,"reply_to_message":{"message_id":4,"from":{"id":99,"is_bot":true,"first_name":"P"}}`, want{}},
		"our topic":         {`"text":"x","message_thread_id":4,"is_topic_message":true,"reply_to_message":{"message_id":4,"from":{"id":99,"is_bot":true,"first_name":"P"},"forum_topic_created":{"name":"t","icon_color":1}}`, want{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := decodeOne(t, c.fields).in
			if got := (want{in.Mentioned, in.MentionsOthers, in.Addressed}); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

// proves: K3
func TestMessageContent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string
		text   string
		media  []channels.Media
		thread channels.ThreadID
	}{
		"text":        {fields: `"text":"hi"`, text: "hi"},
		"NUL":         {fields: `"text":"a\u0000b\ud800c"`, text: "ab\uFFFDc"},
		"photo":       {fields: `"caption":"c","photo":[{"file_id":"s","width":9,"height":9},{"file_id":"l","width":99,"height":99,"file_size":5},{"file_id":"m","width":20,"height":20}]`, text: "c", media: []channels.Media{{Kind: channels.Image, Ref: "l", MIME: "image/jpeg", Size: 5}}},
		"document":    {fields: `"document":{"file_id":"d","file_name":"a.pdf","mime_type":"application/pdf","file_size":4294967297}`, media: []channels.Media{{Kind: channels.Document, Ref: "d", Name: "a.pdf", MIME: "application/pdf", Size: 4294967297}}},
		"animation":   {fields: `"animation":{"file_id":"g"},"document":{"file_id":"g"}`, media: []channels.Media{{Kind: channels.Video, Ref: "g"}}},
		"voice":       {fields: `"voice":{"file_id":"v","mime_type":"audio/ogg","duration":72}`, media: []channels.Media{{Kind: channels.Audio, Ref: "v", Name: "voice message.ogg", MIME: "audio/ogg", Voice: true, Seconds: 72}}},
		"sticker":     {fields: `"sticker":{"file_id":"s","emoji":"👍"}`, text: "👍", media: []channels.Media{{Kind: channels.Sticker, Ref: "s", MIME: "image/webp"}}},
		"location":    {fields: `"location":{"latitude":52.5,"longitude":-13.25}`, text: "[location: 52.500000, -13.250000]"},
		"poll":        {fields: `"poll":{"question":"Q?","options":[{"text":"a"},{"text":"b"}]}`, text: "[poll: Q?: a / b]"},
		"checklist":   {fields: `"checklist":{"title":"Shop","tasks":[{"id":1,"text":"milk","completion_date":1700000000},{"id":2,"text":"bread","completion_date":0}]}`, text: "[checklist: Shop\n☑ milk\n☐ bread]"},
		"game":        {fields: `"game":{"title":"Chess","description":"For two","photo":[]}`, text: "[game: Chess: For two]"},
		"story":       {fields: `"story":{"chat":{"id":4,"type":"private","first_name":"Ann"},"id":3}`, text: "[story of Ann]"},
		"paid media":  {fields: `"paid_media":{"star_count":5,"paid_media":[{"type":"preview"},{"type":"preview"}]}`, text: "[paid media: 2 for 5 stars]"},
		"rich":        {fields: `"rich_message":{"blocks":[{"type":"heading","text":"Plan","size":1},{"type":"paragraph","text":["see ",{"type":"bold","text":["this",{"type":"custom_emoji","custom_emoji_id":"1","alternative_text":"👍"}]}]},{"type":"list","items":[{"label":"1.","blocks":[{"type":"paragraph","text":"go"}]}]},{"type":"table","cells":[[{"text":"a"},{"text":"b"}],[{"text":"c"},{"text":"d"}]],"caption":"T"},{"type":"photo","photo":[],"caption":{"text":"us","credit":"me"}}]}`, text: "Plan\nsee this👍\n1. go\na | b\nc | d\nT\n[photo]\nus\nme"},
		"rich, empty": {fields: `"rich_message":{"blocks":[{"type":"divider"}]}`, text: "[a message without words]"},
		"topic":       {fields: `"text":"x","message_thread_id":7,"is_topic_message":true`, text: "x", thread: "7"},
		"General":     {fields: `"text":"x","message_thread_id":1,"is_topic_message":true`, text: "x"},
		// A kind of a newer Bot API beside text is named; a number or a name that is new is a fact about the message.
		"unknown beside text":    {fields: `"text":"look","hologram":{"file_id":"h"}`, text: "look\n[with something of a kind that is not known here]"},
		"unknown beside a file":  {fields: `"photo":[{"file_id":"s"}],"caption":"c","hologram":{"file_id":"h"}`, text: "c\n[with something of a kind that is not known here]", media: []channels.Media{{Kind: channels.Image, Ref: "s", MIME: "image/jpeg"}}},
		"a new fact beside text": {fields: `"text":"look","star_rating":5,"mood":"good","extra":{}`, text: "look"},
		"reply chain":            {fields: `"text":"x","message_thread_id":7`, text: "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			it := decodeOne(t, c.fields)
			if it.skip != "" || it.in.Event != channels.Message || it.in.Text != c.text || it.in.Address.Thread != c.thread {
				t.Errorf("%+v", it)
			}
			if diff := cmp.Diff(c.media, it.in.Media); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A reply to a message of another chat or topic quotes it; its number there is none here.
func TestQuotes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fields string
		want   *channels.Quote
	}{
		"none":          {``, nil},
		"topic":         {`,"message_thread_id":4,"is_topic_message":true,"reply_to_message":{"message_id":4}`, nil},
		"of a file":     {`,"reply_to_message":{"message_id":4,"from":{"id":3,"first_name":"B"},"voice":{"file_id":"v","duration":3}}`, &channels.Quote{ID: "4", Sender: "B", By: "3", Media: []channels.Media{{Kind: channels.Audio, Ref: "v", Name: "voice message.ogg", Voice: true, Seconds: 3}}}},
		"another chat":  {`,"external_reply":{"origin":{"type":"channel","date":1,"chat":{"id":-5,"type":"channel","title":"News"},"message_id":9},"chat":{"id":-5,"type":"channel","title":"News"},"message_id":9},"quote":{"text":"half of it","position":0}`, &channels.Quote{Sender: "News", Text: "half of it"}},
		"another topic": {`,"message_thread_id":4,"is_topic_message":true,"reply_to_message":{"message_id":4,"forum_topic_created":{"name":"t"}},"external_reply":{"origin":{"type":"user","date":1,"sender_user":{"id":99,"is_bot":true,"first_name":"P"}},"chat":{"id":-100,"type":"supergroup","title":"G"},"message_id":9,"poll":{"question":"Q?","options":[{"text":"a"}]}}`, &channels.Quote{ID: "9", Sender: "P", By: "99", Text: "[poll: Q?: a]", FromBot: true}},
		"hidden":        {`,"external_reply":{"origin":{"type":"hidden_user","date":1,"sender_user_name":"Somebody"},"photo":[]}`, &channels.Quote{Sender: "Somebody"}},
		"of a chat":     {`,"external_reply":{"origin":{"type":"chat","date":1,"sender_chat":{"id":-6,"type":"supergroup","title":"Club"}},"story":{"id":1}}`, &channels.Quote{Sender: "Club", Text: "[story]"}},
		"odd":           {`,"external_reply":{}`, &channels.Quote{}},
	} {
		in := decodeOne(t, `"text":"x"`+c.fields).in
		if diff := cmp.Diff(c.want, in.Quote); diff != "" || in.Mentioned != (c.want != nil && c.want.FromBot) {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWholeEvent(t *testing.T) {
	t.Parallel()
	raw := `[{"update_id":9007199254740993,"edited_message":{"message_id":4503599627370497,"date":1700000000,"edit_date":1700000060,"text":"x",
		"chat":{"id":-1009007199254740993,"type":"group","title":"G\u0000"},"from":{"id":9007199254740995,"is_bot":true,"first_name":"B","username":"b"},
		"quote":{"text":"part","position":0},"reply_to_message":{"message_id":3,"from":{"id":99,"is_bot":true,"first_name":"Par","last_name":"Ley"},"text":"whole part"}}}]`
	items, err := testDecoder.batch(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	want := channels.Inbound{
		Event: channels.Edited, ID: "4503599627370497:9007199254740993", Target: "4503599627370497", Text: "x", Time: time.Unix(1700000060, 0), Title: "G", Mentioned: true,
		Address: channels.Address{Channel: "telegram", Account: "main", Chat: "-1009007199254740993", Type: channels.Group},
		Sender:  channels.Sender{ID: "9007199254740995", Username: "b", Name: "B", Bot: true},
		Quote:   &channels.Quote{ID: "3", Sender: "Par Ley", By: "99", Text: "part", FromBot: true}, Cursor: "9007199254740993",
	}
	if diff := cmp.Diff(want, items[0].in); diff != "" || items[0].id != 9007199254740993 {
		t.Errorf("id %d\n%s", items[0].id, diff)
	}
}

func TestSenders(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		update string
		want   channels.Sender
		typ    channels.ChatType
	}{
		"channel post":    {`"channel_post":{"message_id":1,"date":1,"text":"x","chat":{"id":-5,"type":"channel","title":"News"},"sender_chat":{"id":-5,"type":"channel","title":"News","username":"news"}}`, channels.Sender{ID: "-5", Name: "News", Username: "news"}, channels.Room},
		"bare post":       {`"channel_post":{"message_id":1,"date":1,"text":"x","chat":{"id":-5,"type":"channel","title":"News"}}`, channels.Sender{ID: "-5", Name: "News"}, channels.Room},
		"anonymous admin": {`"message":{"message_id":1,"date":1,"text":"x","chat":{"id":-6,"type":"supergroup","title":"G"},"from":{"id":1087968824,"is_bot":true,"first_name":"Group"},"sender_chat":{"id":-6,"type":"supergroup","title":"G"}}`, channels.Sender{ID: "-6", Name: "G"}, channels.Group},
		"private":         {`"message":{"message_id":1,"date":1,"text":"x","chat":{"id":6,"type":"private","first_name":"Ann"}}`, channels.Sender{ID: "6", Name: "Ann"}, channels.Direct},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items, err := testDecoder.batch(json.RawMessage(`[{"update_id":1,` + c.update + `}]`))
			if err != nil || items[0].in.Sender != c.want || items[0].in.Address.Type != c.typ {
				t.Errorf("%v %+v", err, items)
			}
		})
	}
}

// What cannot be read is listed; what is known not to matter is skipped; neither stops the others.
func TestPoison(t *testing.T) {
	t.Parallel()
	const good = `{"update_id":8,"message":{"message_id":5,"date":1,"chat":{"id":3,"type":"private","first_name":"A"},"from":{"id":3,"is_bot":false,"first_name":"A"},"text":"good"}}`
	const head = `{"update_id":7,"message":{"message_id":5,"date":1,"from":{"id":3,"is_bot":false,"first_name":"A"},`
	group := `"chat":{"id":-100,"type":"group","title":"G"}`
	for name, c := range map[string]struct {
		raw    string
		skip   bool
		id     int64
		chat   channels.ChatID
		reason string
	}{
		"no object":        {raw: `42`, chat: "unknown"},
		"null":             {raw: `null`, chat: "unknown"},
		"no id":            {raw: `{"message":{}}`, chat: "unknown"},
		"negative id":      {raw: `{"update_id":-3,"message":{}}`, chat: "unknown"},
		"huge id":          {raw: `{"update_id":9223372036854775807}`, chat: "unknown"},
		"id beyond int64":  {raw: `{"update_id":99999999999999999999}`, chat: "unknown"},
		"nothing":          {raw: `{"update_id":7}`, id: 7, chat: "unknown"},
		"null message":     {raw: `{"update_id":7,"message":null}`, id: 7, chat: "unknown"},
		"null chat":        {raw: head + `"chat":null,"text":"x"}}`, id: 7, chat: "unknown", reason: "without a chat"},
		"missing chat":     {raw: head + `"text":"x"}}`, id: 7, chat: "unknown", reason: "without a chat"},
		"odd chat type":    {raw: head + `"chat":{"id":4,"type":"holo"},"text":"x"}}`, id: 7, chat: "unknown", reason: "holo"},
		"chat id as float": {raw: head + `"chat":{"id":1.5,"type":"group"},"text":"x"}}`, id: 7, chat: "unknown"},
		"text as number":   {raw: head + group + `,"text":5}}`, id: 7, chat: "-100"},
		"unknown kind":     {raw: `{"update_id":7,"telepathy":{"a":1}}`, id: 7, chat: "unknown", reason: "telepathy"},
		"unknown content":  {raw: head + group + `,"hologram":{"a":1}}}`, id: 7, chat: "-100", reason: "hologram"},
		"no content":       {raw: head + group + `}}`, id: 7, chat: "-100", reason: "without content"},
		"no sender":        {raw: `{"update_id":7,"message":{"message_id":5,"date":1,` + group + `,"text":"x"}}`, id: 7, chat: "-100", reason: "sender"},
		"no message id":    {raw: `{"update_id":7,"message":{"date":1,` + group + `,"text":"x"}}`, id: 7, chat: "-100", reason: "message_id"},
		"long":             {raw: `{"update_id":7,"telepathy":"` + strings.Repeat("\u00e9\\u0001", 9000) + `"}`, id: 7, chat: "unknown"},
		"nobody joined":    {raw: head + group + `,"new_chat_members":[]}}`, skip: true, id: 7},
		"we joined":        {raw: head + group + `,"new_chat_members":[{"id":99,"is_bot":true,"first_name":"P"}]}}`, skip: true, id: 7},
		"icon of a topic":  {raw: head + group + `,"message_thread_id":9,"is_topic_message":true,"forum_topic_edited":{"icon_custom_emoji_id":"1"}}}`, skip: true, id: 7},
		"topic closed":     {raw: head + group + `,"message_thread_id":9,"is_topic_message":true,"forum_topic_closed":{}}}`, skip: true, id: 7},
		"business":         {raw: head + group + `,"business_connection_id":"b","text":"x"}}`, skip: true, id: 7},
		"guest":            {raw: head + group + `,"guest_query_id":"g","text":"x"}}`, skip: true, id: 7},
		"moving location":  {raw: strings.Replace(head, "message", "edited_message", 1) + group + `,"location":{"latitude":1,"longitude":2}}}`, skip: true, id: 7},
		"admin rights":     {raw: `{"update_id":7,"my_chat_member":{` + group + `,"from":{"id":3},"date":1,"old_chat_member":{"status":"member"},"new_chat_member":{"status":"administrator"}}}`, skip: true, id: 7},
		"no chat member":   {raw: `{"update_id":7,"my_chat_member":{}}`, id: 7, chat: "unknown", reason: "without a chat"},
		"reaction of none": {raw: `{"update_id":7,"message_reaction":{` + group + `,"message_id":3,"date":1,"new_reaction":[]}}`, id: 7, chat: "-100", reason: "without a person"},
		"reaction to none": {raw: `{"update_id":7,"message_reaction":{` + group + `,"message_id":-3,"user":{"id":3},"date":1,"new_reaction":[]}}`, id: 7, chat: "-100", reason: "not a message id"},
		"not asked for":    {raw: `{"update_id":7,"poll":{}}`, skip: true, id: 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			items, err := testDecoder.batch(json.RawMessage("[" + c.raw + "," + good + "]"))
			if err != nil || len(items) != 2 || items[1].in.Text != "good" || items[1].id != 8 {
				t.Fatalf("the good one suffered: %v %+v", err, items)
			}
			it := items[0]
			if it.id != c.id || (it.skip != "") != c.skip {
				t.Fatalf("%+v", it)
			}
			if c.skip {
				return
			}
			in := it.in
			if in.Event != channels.Unreadable || in.ID == "" || in.Address.Chat != c.chat || in.Reason == "" || !strings.Contains(in.Reason, c.reason) {
				t.Errorf("%+v", in)
			}
			checkInbound(t, in)
		})
	}
	if _, err := testDecoder.batch(json.RawMessage(`{"a":1}`)); err == nil {
		t.Error("an object is no list")
	}
}

func TestHugeTextIsPassedOnWhole(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x😀", 250_000)
	if in := decodeOne(t, `"text":"`+text+`"`).in; in.Text != text {
		t.Errorf("%d bytes of %d came", len(in.Text), len(text))
	}
}

// checkInbound holds for every event, whatever was received.
func checkInbound(t *testing.T, in channels.Inbound) {
	t.Helper()
	if back, err := channels.ParseAddress(in.Address.String()); err != nil || back != in.Address {
		t.Errorf("address %+v: %v", in.Address, err)
	}
	if in.Event == "" || in.ID == "" {
		t.Errorf("no event or id: %+v", in)
	}
	words := []string{in.Text, in.Addressed, in.Title, in.Reason, in.Emoji, in.Sender.Name, in.Sender.Username}
	for _, p := range in.People {
		words = append(words, p.Name, p.Username)
	}
	for _, m := range in.Media {
		words = append(words, m.Name, m.MIME)
		if m.Size < 0 || m.Ref == "" {
			t.Errorf("media %+v", m)
		}
	}
	if in.Quote != nil {
		words = append(words, in.Quote.Text, in.Quote.Sender)
	}
	for _, s := range words {
		if !utf8.ValidString(s) || strings.ContainsRune(s, 0) {
			t.Errorf("%q is no clean text", s)
		}
	}
	if in.Event == channels.Unreadable && (!json.Valid(in.Raw) || len(in.Raw) > channels.MaxRaw || in.Reason == "") {
		t.Errorf("raw of %d bytes, reason %q", len(in.Raw), in.Reason)
	}
}

func TestAdvance(t *testing.T) {
	t.Parallel()
	p := poller{done: map[int64]bool{}}
	step := func(want int64, done int, ids ...int64) { // negative = refused
		t.Helper()
		var items []item
		for _, id := range ids {
			items = append(items, item{id: max(id, -id), committed: id > 0})
		}
		p.noteRenumbering(items)
		if p.advance(items); p.offset != want || len(p.done) != done {
			t.Errorf("offset %d, %d beyond it; want %d, %d", p.offset, len(p.done), want, done)
		}
	}
	step(11, 0, 10)
	step(12, 2, 11, -12, 13, 14)
	step(12, 2, -12, 13, 14)
	step(15, 0, 12, 13, 14)
	step(17, 1, 18, 15, 16, -17) // in any order
	step(3, 0, 2)                // renumbered
}

// A group that moved is offered as one with its new self: what is written there comes after the word about the move.
func TestMovedChatIsOneWithItsNewSelf(t *testing.T) {
	t.Parallel()
	in := func(chat, to channels.ChatID) item {
		return item{in: channels.Inbound{Address: channels.Address{Chat: chat}, MovedTo: to}}
	}
	items := []item{in("-6", ""), in("5", ""), in("-6", "-1006"), in("-1006", "")}
	items[2].in.Event = channels.Moved
	if groups := byChat(items); len(groups) != 2 || len(groups[0]) != 3 || groups[0][2] != &items[3] {
		t.Errorf("%+v", groups)
	}
}

// After a refusal, updates beyond it are remembered as committed; when the server counts anew, the same ids are other updates.
func TestRenumberingForgetsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	var taken []string
	refuse := true
	p := poller{done: map[int64]bool{}, c: &Channel{log: slog.New(slog.DiscardHandler)}}
	p.inbox = func(_ context.Context, in channels.Inbound) error {
		if refuse && in.Text == "refused" {
			return errors.New("disk full")
		}
		taken = append(taken, in.Text)
		return nil
	}
	event := func(id int64, chat channels.ChatID, text string) item {
		return item{id: id, in: channels.Inbound{Text: text, Address: channels.Address{Chat: chat}}}
	}
	offer := func(items ...item) {
		p.noteRenumbering(items)
		p.offer(t.Context(), items)
	}
	offer(event(50, "a", "refused"))
	offer(event(50, "a", "refused"), event(51, "b", "old 51"))
	offer(event(50, "a", "refused"), event(51, "b", "old 51"))
	refuse = false
	offer(event(49, "a", "new 49"), event(51, "b", "new 51"))
	if got := strings.Join(taken, ", "); got != "old 51, new 49, new 51" {
		t.Errorf("taken: %s", got)
	}
}

// A number out of range costs no message: it alone is left out.
// source: https://core.telegram.org/bots/api#update (ids may have up to 52 significant bits), tdlib/telegram-bot-api#77
func TestNumbersOutOfRangeCostNoMessage(t *testing.T) {
	t.Parallel()
	const message = `"message_id":5,"date":1795650000,"chat":{"id":1001,"type":"private"},"from":{"id":1001,"first_name":"Anna"},"text":"hello"`
	for _, raw := range []string{
		`{"update_id":4611686018427387904,"message":{` + message + `}}`,
		`{"update_id":9223372036854775807,"message":{` + message + `}}`,
		`{"update_id":99999999999999999999,"message":{` + message + `}}`,
		`{"update_id":-3,"message":{` + message + `}}`,
		`{"update_id":7,"message":{` + message + `,"reply_to_checklist_task_id":1e40}}`,
		`{"update_id":7,"message":{` + message + `,"forward_from_message_id":99999999999999999999}}`,
		`{"update_id":7,"message":{` + message + `,"entities":[{"type":"bold","offset":99999999999999999999,"length":-1e30}]}}`,
		`{"update_id":7,"message":{` + message + `,"reply_to_message":{"message_id":99999999999999999999,"text":"x"}}}`,
	} {
		if it := (decoder{account: "default"}).single(json.RawMessage(raw)); it.in.Event != channels.Message || it.in.Text != "hello" || it.in.ID != "5" {
			t.Errorf("%s: %+v", raw, it.in)
		}
	}
}

// A comment and what is forwarded with it in one batch are known to belong together; an album that may not be whole holds its comment.
// source: the Bot API's getUpdates (an array of updates)
func TestGesturesOfOneBatch(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_700_000_000, 0)
	said := func(id int64, from channels.UserID, forwarded bool, album string) item {
		return item{id: id, album: album, in: channels.Inbound{Event: channels.Message, Address: channels.Address{Chat: "a"}, Sender: channels.Sender{ID: from}, Forwarded: forwarded, Time: at}}
	}
	p := poller{done: map[int64]bool{}, c: &Channel{}}
	items := []item{said(1, "1", false, ""), said(2, "2", false, ""), said(3, "1", true, ""), said(4, "1", true, ""), said(5, "1", false, ""), said(6, "1", false, "")}
	p.markGestures(byChat(items))
	for i, more := range []bool{true, false, true, true, false, false} {
		if items[i].in.More != more {
			t.Errorf("message %d: %v", items[i].id, items[i].in.More)
		}
	}
	items = []item{said(7, "2", false, ""), said(8, "1", false, ""), said(9, "1", true, "x"), said(10, "1", true, "x")}
	if wait := p.collect(items, at); wait == 0 || items[0].held || !items[1].held || !items[2].held {
		t.Errorf("held for %s: %+v", wait, items)
	}
}
