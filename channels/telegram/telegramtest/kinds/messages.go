package kinds

import "parley/channels/channeltest"

var in = channeltest.NewKind

// messages are the kinds that come in, with what the host sends of the same kind.
func messages() []Row {
	return []Row{
		in("text", "`hello`", "`sendMessage`", api("text"), `"text":"hello"`),
		in("link behind words", "`see [the article](https://example.com/post?id=42)`", "`sendMessage`, HTML", "Bot API, MessageEntity; text_link", `"text":"see the article","entities":[{"type":"text_link","offset":4,"length":11,"url":"https://example.com/post?id=42"}]`),
		in("code", "`` why?\n```go\nx := 1\n``` ``", "`sendMessage`, HTML", "Bot API, MessageEntity; pre", `"text":"why?\nx := 1","entities":[{"type":"pre","offset":5,"length":6,"language":"go"}]`),
		in("quoted lines", "`> a\n> b\nmine`", "`sendMessage`, HTML", "Bot API, MessageEntity; blockquote", `"text":"a\nb\nmine","entities":[{"type":"blockquote","offset":0,"length":3}]`),
		in("struck out, hidden", "`~~50~~ 40 ||secret||`", "`sendMessage`, HTML", "Bot API, MessageEntity", `"text":"50 40 secret","entities":[{"type":"strikethrough","offset":0,"length":2},{"type":"spoiler","offset":6,"length":6}]`),
		in("date", "`on Friday (2025-11-28 18:00 UTC)`", "", "Bot API, MessageEntity; date_time", `"text":"on Friday","entities":[{"type":"date_time","offset":3,"length":6,"unix_time":1764352800}]`),
		in("reply", "`yes`, reply to Bob: `sure?`", "`reply_parameters`", api("reply_to_message"), `"text":"yes","reply_to_message":{"message_id":4,"from":{"id":3,"first_name":"Bob"},"text":"sure?"}`),
		in("reply to a file", "`what is this?`, reply to Bob: picture", "`reply_parameters`", "NousResearch/hermes-agent#22250", `"text":"what is this?","reply_to_message":{"message_id":4,"from":{"id":3,"first_name":"Bob"},"photo":[{"file_id":"p","width":1,"height":1}]}`),
		in("reply to a forwarded message", "`true?`, reply to Bob, from News: `[here](https://example.com/a)`", "`reply_parameters`", "HKUDS/nanobot#1875", `"text":"true?","reply_to_message":{"message_id":4,"from":{"id":3,"first_name":"Bob"},"forward_origin":{"type":"channel","date":1,"chat":{"id":-5,"type":"channel","title":"News"},"message_id":9},"caption":"here","caption_entities":[{"type":"text_link","offset":0,"length":4,"url":"https://example.com/a"}]}`),
		in("reply to a part", "`why?`, reply to Bob: `half of it`", "", "Bot API, TextQuote", `"text":"why?","reply_to_message":{"message_id":4,"from":{"id":3,"first_name":"Bob"},"text":"the other and half of it"},"quote":{"text":"half of it","position":14}`),
		in("reply to a story", "`nice`, reply to Ann: `[story]`", "", api("reply_to_story"), `"text":"nice","reply_to_story":{"chat":{"id":4,"type":"private","first_name":"Ann"},"id":3}`),
		in("reply to a task", "`done`, reply to Bob: `[task of the checklist Shop: ☐ milk]`", "", api("reply_to_checklist_task_id"), `"text":"done","reply_to_checklist_task_id":2,"reply_to_message":{"message_id":4,"from":{"id":3,"first_name":"Bob"},"checklist":{"title":"Shop","tasks":[{"id":1,"text":"bread"},{"id":2,"text":"milk"}]}}`),
		in("forwarded", "`We offer 50k`, forwarded from Ann Lee", "", "openclaw/openclaw#14733", `"text":"We offer 50k","forward_origin":{"type":"user","date":1,"sender_user":{"id":3,"first_name":"Ann","last_name":"Lee"}}`),
		in("forwarded, author hidden", "`We offer 50k`, forwarded from Somebody", "", "openclaw/openclaw#108466", `"text":"We offer 50k","forward_origin":{"type":"hidden_user","date":1,"sender_user_name":"Somebody"}`),
		in("forwarded from a channel", "`news`, forwarded from Ann in News", "", "Bot API, MessageOriginChannel", `"text":"news","forward_origin":{"type":"channel","date":1,"chat":{"id":-5,"type":"channel","title":"News"},"message_id":9,"author_signature":"Ann"}`),
		in("buttons with links", "`Offer\n[button: [Buy](https://example.com/buy)]\n[button: No]`", "", "Bot API, InlineKeyboardMarkup", `"text":"Offer","reply_markup":{"inline_keyboard":[[{"text":"Buy","url":"https://example.com/buy"},{"text":"No","callback_data":"n"}]]}`),
		in("buttons that open and copy", "`Go\n[button: [Shop](https://example.com/app)]\n[button: [Sign in](https://example.com/in)]\n[button: Code, copies: A-42]`", "", "Bot API, InlineKeyboardButton; web_app, login_url, copy_text", `"text":"Go","reply_markup":{"inline_keyboard":[[{"text":"Shop","web_app":{"url":"https://example.com/app"}},{"text":"Sign in","login_url":{"url":"https://example.com/in"}}],[{"text":"Code","copy_text":{"text":"A-42"}}]]}`),
		in("written with another bot", "`a cat\n[sent with the bot GIF]`", "", api("via_bot"), `"text":"a cat","via_bot":{"id":9,"is_bot":true,"first_name":"GIF","username":"gif"}`),
		in("signed post", "`news\n[signed: Ann]`", "", api("author_signature"), `"text":"news","author_signature":"Ann"`),
		in("quiz", "`[closed quiz: 2+2?: 3 / 4; right answer: 4; explanation: two pairs]`", "", "Bot API, Poll; type, correct_option_id, explanation", `"poll":{"id":"1","question":"2+2?","type":"quiz","is_closed":true,"correct_option_id":1,"explanation":"two pairs","options":[{"text":"3","voter_count":0},{"text":"4","voter_count":0}]}`),
		in("picture", "`look`, picture", "`sendPhoto`; as a file where Telegram or the chat takes no pictures", api("photo"), `"caption":"look","photo":[{"file_id":"p","width":9,"height":9}]`),
		in("live photo", "picture", "", api("live_photo"), `"live_photo":{"file_id":"v","photo":[{"file_id":"p","width":9,"height":9}]},"photo":[{"file_id":"p","width":9,"height":9}]`),
		in("video", "video (9 s)", "`sendVideo` with its size and length", api("video"), `"video":{"file_id":"v","width":1,"height":1,"duration":9}`),
		in("video message", "video (5 s)", "", api("video_note"), `"video_note":{"file_id":"v","length":1,"duration":5}`),
		in("animation", "video (2 s)", "`sendDocument`", api("animation"), `"animation":{"file_id":"v","duration":2},"document":{"file_id":"v"}`),
		in("voice message", "voice message (14 s)", "`sendVoice` with its length: Ogg files with Opus", api("voice"), `"voice":{"file_id":"v","duration":14,"mime_type":"audio/ogg"}`),
		in("audio", "`[audio: Ann – Song]`, audio (200 s)", "`sendAudio`", api("audio"), `"audio":{"file_id":"a","duration":200,"performer":"Ann","title":"Song"}`),
		in("file", "document", "`sendDocument`", api("document"), `"document":{"file_id":"d","file_name":"q3.pdf"}`),
		in("album", "one message with all files", "`sendMediaGroup`, up to 10", api("media_group_id"), ""),
		in("sticker", "`👍`, sticker", "`sendSticker`: WebP of at most 512 pixels", api("sticker"), `"sticker":{"file_id":"s","type":"regular","width":1,"height":1,"emoji":"👍"}`),
		in("location", "`[location: 52.500000, -13.250000]`", "", api("location"), `"location":{"latitude":52.5,"longitude":-13.25}`),
		in("location out of range", "`[location]`", "", "Bot API, Location; RFC 7946, section 4", `"location":{"latitude":1e300,"longitude":-13.25}`),
		in("live location", "`[live location: 52.500000, -13.250000]`; its moves are not told", "", "Bot API, Location.live_period", `"location":{"latitude":52.5,"longitude":-13.25,"live_period":60}`),
		in("place", "`[place: Café, Main Street 1 (52.500000, 13.250000)]`", "", api("venue"), `"venue":{"title":"Café","address":"Main Street 1","location":{"latitude":52.5,"longitude":13.25}},"location":{"latitude":52.5,"longitude":13.25}`),
		in("contact", "`[contact: Jane Doe, +15550100007, +1 555 0100 008, jane@example.com]`", "", api("contact"), `"contact":{"phone_number":"+15550100007","first_name":"Jane","last_name":"Doe","vcard":"BEGIN:VCARD\nFN:Jane Doe\nTEL;TYPE=cell:+1 555 0100 007\nTEL;TYPE=work:+1 555 0100 008\nEMAIL;TYPE=work:jane@example.com\nEND:VCARD"}`),
		in("poll", "`[poll: Lunch?: soup / salad]`", "", api("poll"), `"poll":{"id":"1","question":"Lunch?","options":[{"text":"soup","voter_count":0},{"text":"salad","voter_count":0}]}`),
		in("closed poll", "`[closed poll: Lunch?: soup (3) / salad]`", "", api("poll"), `"poll":{"id":"1","question":"Lunch?","is_closed":true,"options":[{"text":"soup","voter_count":3},{"text":"salad","voter_count":0}]}`),
		in("dice", "`[dice: 🎲 4]`", "", api("dice"), `"dice":{"emoji":"🎲","value":4}`),
		in("checklist", "`[checklist: Shop\n☑ milk\n☐ bread]`", "", api("checklist"), `"checklist":{"title":"Shop","tasks":[{"id":1,"text":"milk","completion_date":1764100000},{"id":2,"text":"bread"}]}`),
		in("tasks that are done", "an edit of the checklist: `[checklist: Shop\n☑ milk]`", "", api("checklist_tasks_done"), `"checklist_tasks_done":{"checklist_message":{"message_id":4,"checklist":{"title":"Shop","tasks":[{"id":1,"text":"milk"}]}},"marked_as_done_task_ids":[1]}`),
		in("game", "`[game: Chess: For two]`", "", api("game"), `"game":{"title":"Chess","description":"For two","photo":[]}`),
		in("story", "`[story of Ann]`", "", api("story"), `"story":{"chat":{"id":4,"type":"private","first_name":"Ann"},"id":3}`),
		in("paid media", "`ours\n[paid media: 2 for 5 stars]`, picture", "", api("paid_media"), `"caption":"ours","paid_media":{"star_count":5,"paid_media":[{"type":"preview"},{"type":"photo","photo":[{"file_id":"p","width":1,"height":1}]}]}`),
		in("rich message", "`` Plan\nsee [this](https://example.com)\n```go\nx\n```\n[photo] ``, picture", "", api("rich_message"), `"rich_message":{"blocks":[{"type":"heading","text":"Plan","size":1},{"type":"paragraph","text":["see ",{"type":"url","text":"this","url":"https://example.com"}]},{"type":"pre","language":"go","text":"x"},{"type":"photo","photo":[{"file_id":"p","width":1,"height":1}]}]}`),
		in("invoice", "`[invoice: Cup: Of tea, 1.45 EUR]`", "", api("invoice"), `"invoice":{"title":"Cup","description":"Of tea","start_parameter":"","currency":"EUR","total_amount":145}`),
		in("payment", "`[payment: 5 stars]`", "", api("successful_payment"), `"successful_payment":{"currency":"XTR","total_amount":5}`),
		in("refund", "`[refund: 5 stars]`", "", api("refunded_payment"), `"refunded_payment":{"currency":"XTR","total_amount":5}`),
		in("giveaway", "`[giveaway in News: 3 winners on 2025-11-28 18:00 UTC; prize: a cup]`", "", api("giveaway"), `"giveaway":{"chats":[{"id":-5,"type":"channel","title":"News"}],"winners_selection_date":1764352800,"winner_count":3,"prize_description":"a cup"}`),
		in("winners of a giveaway", "`[winners of the giveaway in News: Ann; prize: 50 stars]`", "", api("giveaway_winners"), `"giveaway_winners":{"chat":{"id":-5,"type":"channel","title":"News"},"winner_count":1,"winners":[{"id":3,"first_name":"Ann"}],"prize_star_count":50}`),
		in("gift", "`[gift of 50 stars: for you]`", "", api("gift"), `"gift":{"gift":{"id":"1","star_count":50},"text":"for you"}`),
		in("unique gift", "`[unique gift: Plush Pepe #7]`", "", api("unique_gift"), `"unique_gift":{"gift":{"base_name":"Plush Pepe","name":"PlushPepe-7","number":7},"origin":"transfer"}`),
		in("people picked for the bot", "`[picked people: Ann, bob_b]`", "", api("users_shared"), `"users_shared":{"request_id":1,"users":[{"user_id":3,"first_name":"Ann"},{"user_id":4,"username":"bob_b"}]}`),
		in("chat picked for the bot", "`[picked chat: Team]`", "", api("chat_shared"), `"chat_shared":{"request_id":1,"chat_id":-6,"title":"Team"}`),
		in("data of a web app", "`[sent by the web app Order: {\"tea\":1}]`", "", api("web_app_data"), `"web_app_data":{"data":"{\"tea\":1}","button_text":"Order"}`),
		in("what Telegram itself reports: pins, calls, boosts, timers, pictures, communities", "not told", "", api("pinned_message"), `"pinned_message":{"message_id":4,"date":1,"chat":{"id":1001,"type":"private"}}`),
		in("community", "not told", "", "Bot API 10.2, CommunityChatAdded", `"community_chat_added":{"community":{"id":5,"title":"C"}}`),
	}
}

func api(field string) string { return "Bot API, Message." + field }
