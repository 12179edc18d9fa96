// Package kinds is the table of the kinds of messages that Discord has: what each is on the wire, and what becomes of it. The tests of
// the adapter hold every row, and docs/channels.md shows them.
package kinds

import "parley/channels/channeltest"

// Row is one kind with an example of it: fields of a message that comes in, as JSON without the braces; empty = Out alone.
type Row = channeltest.KindRow

// Where the platform describes what the rows show.
const (
	messages   = "Discord documentation, Message resource"
	components = "Discord documentation, Component reference"
)

var row = channeltest.NewKind

// Kinds gives the rows as the documentation shows them.
func Kinds() []channeltest.Kind { return channeltest.Kinds(Table()) }

// Table gives the rows in the order of the documentation.
func Table() []Row {
	list := append(words(), files()...)
	list = append(list, others()...)
	return append(append(list, cards()...), services()...)
}

// words are what people write.
func words() []Row {
	return []Row{
		row("text", "`hello`", "Discord's Markdown, cut at 2,000 characters; links without previews", messages, `"content":"hello"`),
		row("mention of the bot", "`@parley_test hello`, mentioned", "", messages, `"content":"<@42> hello","mentions":[{"id":"42","username":"parley_test","bot":true}]`),
		row("mention of somebody", "`ask @Bert`", "`@Bert` of somebody who wrote in the chat notifies them; no other person, no role, never everyone", messages,
			`"content":"ask <@200000000000000002>","mentions":[{"id":"200000000000000002","username":"bert","global_name":"Bert"}]`),
		row("channel, role, command, emoji", "`#general, @helpers, /status, :wave:`", "", messages, `"content":"<#300000000000000002>, <@&300000000000000009>, </status:1>, <a:wave:5>"`),
		row("time", "`at 2026-01-02 03:04 UTC`", "", "Discord documentation, Reference, timestamp styles", `"content":"at <t:1767323040:R>"`),
		row("reply", "`yes`, quote of Bert: `lunch?`", "a reply; without the reference where the bot may not read the history", messages,
			`"type":19,"content":"yes","message_reference":{"message_id":"7"},"referenced_message":{"id":"7","channel_id":"300000000000000002","author":{"id":"200000000000000002","username":"bert","global_name":"Bert"},"content":"lunch?"}`),
		row("reply to a file", "`what is it?`, quote of Bert: image cat.png", "", "NousResearch/hermes-agent#22250",
			`"type":19,"content":"what is it?","message_reference":{"message_id":"7"},"referenced_message":{"id":"7","channel_id":"300000000000000002","author":{"id":"200000000000000002","username":"bert","global_name":"Bert"},"content":"","attachments":[`+picture+`]}`),
		row("reply to what was forwarded", "`and this?`, quote of Bert: `offer`, by #general · Town", "", "HKUDS/nanobot#1875",
			`"type":19,"content":"and this?","message_reference":{"message_id":"7"},"referenced_message":{"id":"7","channel_id":"300000000000000002","author":{"id":"200000000000000002","username":"bert","global_name":"Bert"},"content":"",`+forwarded(`"content":"offer"`)+`}`),
		row("reply to what is gone", "`yes`, quote of somebody: `[a message that cannot be read any more]`", "", messages, `"type":19,"content":"yes","message_reference":{"message_id":"7"},"referenced_message":null`),
		row("forward", "`offer`, forwarded, by #general · Town", "", "openclaw/openclaw#14733", forwarded(`"content":"offer"`)),
		row("forward of files", "forwarded, by #general · Town, image cat.png", "", messages, forwarded(`"content":"","attachments":[`+picture+`]`)),
		row("slash command", "`/name` and what was filled in, mentioned", "the answer takes the place of “is thinking…”", "Discord documentation, Receiving and responding", ""),
		row("edit", "told with the next turn; a pin, a preview of a link, another update without news is not", "an edit of the bot's message, for answers that grow", messages, ""),
		row("deletion, reaction", "told with the next turn", "a reaction", messages, ""),
	}
}

const picture = `{"id":"8","filename":"cat.png","content_type":"image/png","size":3,"url":"https://cdn.discordapp.com/attachments/1/8/cat.png","proxy_url":"https://media.discordapp.net/attachments/1/8/cat.png"}`

func forwarded(body string) string {
	return `"message_reference":{"type":1,"message_id":"6","channel_id":"300000000000000002","guild_id":"300000000000000001"},"message_snapshots":[{"message":{` + body + `}}]`
}

func file(name, kind, more string) string {
	return `"content":"","attachments":[{"id":"8","filename":"` + name + `","content_type":"` + kind + `","size":3,` + more + `"url":"https://cdn.discordapp.com/attachments/1/8/` + name + `"}]`
}

// files are what comes with messages.
func files() []Row {
	return []Row{
		row("picture", "image cat.png", "a file", messages, `"content":"","attachments":[`+picture+`]`),
		row("picture with a description", "`[file cat.png shows: a black cat]`, image cat.png", "", messages, file("cat.png", "image/png", `"description":"a black cat",`)),
		row("several files", "`both`, image cat.png, document q3.pdf", "up to 10 files in one message, 10 MB each", messages,
			`"content":"both","attachments":[`+picture+`,{"id":"9","filename":"q3.pdf","content_type":"application/pdf","size":3,"url":"https://cdn.discordapp.com/attachments/1/9/q3.pdf"}]`),
		row("voice message", "audio voice-message.ogg, voice, 14 s", "a voice message, of Ogg Opus alone; a file where the chat takes none", "discord/discord-api-docs#6082",
			`"flags":8192,`+file("voice-message.ogg", "audio/ogg", `"duration_secs":13.2999,"waveform":"AAA=",`)),
		row("video", "video clip.mp4, 61 s", "a file", messages, file("clip.mp4", "video/mp4", `"duration_secs":60.5,`)),
		row("file whose facts make no sense", "document x.bin", "", messages, file("x.bin", "application/octet-stream", `"size":"big","duration_secs":-1e99,`)),
		row("sticker", "sticker wave", "a picture", "Discord documentation, Sticker resource", `"content":"","sticker_items":[{"id":"9","name":"wave","format_type":1}]`),
		row("sticker that moves (Lottie)", "`[sticker: wave]`", "", "Discord documentation, Sticker resource", `"content":"","sticker_items":[{"id":"9","name":"wave","format_type":3}]`),
	}
}

// others are the remaining things that people send.
func others() []Row {
	return []Row{
		row("poll", "`[poll: Lunch?: 🍕 Pizza (2) / 🥗 / :soup:; several answers may be chosen; it ends at 2026-01-02 03:04 UTC]`", "", "Discord documentation, Poll resource",
			`"content":"","poll":{"question":{"text":"Lunch?"},"answers":[{"answer_id":1,"poll_media":{"text":"Pizza","emoji":{"name":"🍕"}}},{"answer_id":2,"poll_media":{"emoji":{"name":"🥗"}}},{"answer_id":3,"poll_media":{"emoji":{"id":"5","name":"soup"}}}],`+
				`"allow_multiselect":true,"expiry":"2026-01-02T03:04:00+00:00","results":{"answer_counts":[{"id":1,"count":2}]}}`),
		row("invitation to play", "`[invites to Chess]`", "", messages, `"content":"","activity":{"type":1,"party_id":"x"},"application":{"id":"5","name":"Chess"}`),
		row("link with a preview", "`see https://example.com`", "no preview", messages, `"content":"see https://example.com","embeds":[{"type":"link","title":"Example","description":"words of somebody else"}]`),
		row("message of a webhook", "`build failed`, by a bot without a user name", "", "Discord documentation, Webhook resource", `"content":"build failed","webhook_id":"900000000000000001","author":{"id":"900000000000000001","username":"anna","bot":true}`),
		row("first message of a thread", "not told by itself; the quote of the next message there", "", "Discord documentation, Message types", ""),
	}
}

const bot = `"author":{"id":"900000000000000002","username":"deploy","discriminator":"1234","bot":true},`

// cards are what other bots write.
func cards() []Row {
	return []Row{
		row("embed of a bot", "`Deploy ⏎ failed ⏎ host: web1 ⏎ https://ci.example ⏎ [picture](https://ci.example/graph.png)`", "", messages,
			bot+`"content":"","embeds":[{"type":"rich","title":"Deploy","description":"failed","url":"https://ci.example","fields":[{"name":"host","value":"web1"}],"image":{"url":"https://ci.example/graph.png"}}]`),
		row("Components V2", "`# Deploy failed ⏎  ⏎ by @Bert ⏎  ⏎ [button: [Log](https://ci.example/1)] ⏎  ⏎ [button: 🔁 Again] ⏎  ⏎ [menu: Where: web1, web2]`", "", components,
			bot+`"content":"","flags":32768,"mentions":[{"id":"200000000000000002","username":"bert","global_name":"Bert"}],"components":[{"type":17,"components":[{"type":10,"content":"# Deploy failed"},`+
				`{"type":9,"components":[{"type":10,"content":"by <@200000000000000002>"}],"accessory":{"type":2,"style":5,"label":"Log","url":"https://ci.example/1"}},{"type":14}]},`+
				`{"type":1,"components":[{"type":2,"style":1,"label":"Again","emoji":{"name":"🔁"}},{"type":3,"placeholder":"Where","options":[{"label":"web1"},{"label":"web2"}]}]}]`),
		row("Components V2 with files", "`[picture: a graph] ⏎  ⏎ [picture far](https://ci.example/far.png) ⏎  ⏎ [file a.log]`, image graph.png, document log.txt", "", components,
			bot+`"content":"","flags":32768,"components":[{"type":12,"items":[{"media":{"url":"https://cdn.discordapp.com/attachments/1/8/graph.png?ex=1","content_type":"image/png","attachment_id":"8"},"description":"a graph"},`+
				`{"media":{"url":"https://ci.example/far.png"},"description":"far"}]},{"type":13,"file":{"url":"https://cdn.discordapp.com/attachments/1/9/log.txt","content_type":"text/plain"},"name":"log.txt","size":3},{"type":13,"file":{"url":"attachment://a.log"}}]`),
		row("forwarded Components V2", "`# Deploy failed`, forwarded, by #general · Town", "", "OpenClaw message-text.test.ts",
			forwarded(`"content":"","flags":32768,"components":[{"type":17,"components":[{"type":10,"content":"# Deploy failed"}]}]`)),
		row("Components V2 of unknown kinds", "`Rate us ⏎  ⏎ [component of kind 77, which cannot be shown here] ⏎  ⏎ [menu] ⏎  ⏎ inside`", "", components,
			bot+`"content":"","flags":32768,"components":[{"type":10,"content":"Rate us"},{"type":77,"stars":5},{"type":1,"components":[{"type":5,"custom_id":"who"}]},{"type":78,"components":[{"type":10,"content":"inside"}]}]`),
		row("Components V2 without words", "unreadable: MESSAGE_CREATE: message without known content", "", components,
			bot+`"content":"","flags":32768,"components":[{"type":14}]`),
	}
}

// services are the platform's own lines.
func services() []Row {
	return []Row{
		row("somebody joined, was added, left", "told with the next turn", "", messages, `"type":7,"content":""`),
		row("pin, boost, call, thread, stage, alert and other lines of Discord's own", "not told; in words where somebody quotes or forwards one", "", messages, `"type":6,"content":""`),
		row("quote of a line of Discord's own", "`look`, quote of Bert: `[a message was pinned]`", "", messages,
			`"type":19,"content":"look","message_reference":{"message_id":"7"},"referenced_message":{"id":"7","type":6,"channel_id":"300000000000000002","author":{"id":"200000000000000002","username":"bert","global_name":"Bert"},"content":""}`),
		row("quote of who was added to a group", "`hi`, quote of Bert: `[somebody was added to the group: Cleo]`", "", "Discord documentation, Message types, RECIPIENT_ADD",
			`"type":19,"content":"hi","message_reference":{"message_id":"7"},"referenced_message":{"id":"7","type":1,"channel_id":"300000000000000002","author":{"id":"200000000000000002","username":"bert","global_name":"Bert"},"content":"","mentions":[{"id":"200000000000000003","username":"cleo","global_name":"Cleo"}]}`),
		row("quote of the result of a poll", "`good`, quote of Bert: `[the poll Lunch? has ended: 🍕 Pizza, 2 of 3 votes]`", "", "Discord documentation, Poll result embed fields",
			`"type":19,"content":"good","message_reference":{"message_id":"7"},"referenced_message":{"id":"7","type":46,"channel_id":"300000000000000002","author":{"id":"200000000000000002","username":"bert","global_name":"Bert"},"content":"",`+
				`"embeds":[{"type":"poll_result","fields":[{"name":"poll_question_text","value":"Lunch?"},{"name":"victor_answer_text","value":"Pizza"},{"name":"victor_answer_emoji_name","value":"🍕"},{"name":"victor_answer_votes","value":"2"},{"name":"total_votes","value":"3"}]}]}`),
		row("a type that is not known yet", "unreadable: MESSAGE_CREATE: message of unknown type 99", "", messages, `"type":99,"content":"?"`),
	}
}
