// Package kinds is the table of the kinds of messages that WhatsApp has: what each is on the wire, and what becomes of it. The tests of
// the adapter hold every row that comes in, and docs/channels.md shows them.
package kinds

import "parley/channels/channeltest"

// Row is one kind with an example of it: the protobuf Message as JSON; empty = Out alone, or held by another test.
type Row = channeltest.KindRow

// Where the rows come from.
const (
	schema = "WhiskeySockets/Baileys, WAProto"
	twins  = "mautrix/whatsapp#818"
	timers = "tulir/whatsmeow#354"
)

var row = channeltest.NewKind

// Kinds gives the rows as the documentation shows them.
func Kinds() []channeltest.Kind { return channeltest.Kinds(Table()) }

// Table gives the rows in the order of the documentation.
func Table() []Row {
	list := append(words(), files()...)
	list = append(list, cards()...)
	return append(append(list, business()...), notices()...)
}

// key is what a file's message has to fetch it with.
const key = `"directPath":"/v/1","mediaKey":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","fileEncSHA256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=","fileSHA256":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="`

func words() []Row {
	quoting := func(quoted string) string {
		return `{"extendedTextMessage":{"text":"yes","contextInfo":{"stanzaID":"7","participant":"491550002@s.whatsapp.net","quotedMessage":` + quoted + `}}}`
	}
	return []Row{
		row("text", "`hello`", "WhatsApp's markup, cut at 4,096 characters", schema, `{"conversation":"hello"}`),
		row("mention of the account", "`@90001 hello`, mentioned", "", schema, `{"extendedTextMessage":{"text":"@90001 hello","contextInfo":{"mentionedJID":["90001@lid"]}}}`),
		row("mention of somebody", "`ask @Anna`", "`@Name` and `@number` of people of the chat notify them; not in code, no other person", "zeroclaw-labs/zeroclaw#10976",
			`{"extendedTextMessage":{"text":"ask @491550002","contextInfo":{"mentionedJID":["491550002@s.whatsapp.net"]}}}`),
		row("reply", "`yes`, quote of Anna: `lunch?`", "a quote, of the newest 2,048 messages; without it where WhatsApp refuses it", schema, quoting(`{"conversation":"lunch?"}`)),
		row("reply to a file", "`yes`, quote of Anna: image", "", "NousResearch/hermes-agent#22250", quoting(`{"imageMessage":{`+key+`}}`)),
		row("reply to a voice message", "`yes`, quote of Anna: audio, voice, 14 s", "", "HKUDS/nanobot#1875", quoting(`{"audioMessage":{"PTT":true,"seconds":14,`+key+`}}`)),
		row("reply to a voice message without its key", "`yes`, quote of Anna: audio, voice, 14 s, by name", "", "WAProto, AudioMessage; whiskeysockets/baileys#1127", quoting(`{"audioMessage":{"PTT":true,"seconds":14}}`)),
		row("reply to a file without its key", "`yes`, quote of Anna: document q4.pdf, by name", "", "WAProto, DocumentMessage", quoting(`{"documentMessage":{"fileName":"q4.pdf"}}`)),
		row("reply to an album", "`yes`, quote of Anna: `[album: 3 images]`, its files since the start", "", twins, quoting(`{"albumMessage":{"expectedImageCount":3}}`)),
		row("link preview of an address that the text lacks", "`look ⏎ [link: https://example.com/a]`", "", schema, `{"extendedTextMessage":{"text":"look","matchedText":"https://example.com/a"}}`),
		row("forward", "`offer`, forwarded", "", schema, `{"extendedTextMessage":{"text":"offer","contextInfo":{"isForwarded":true}}}`),
		row("forward out of a channel", "`news`, forwarded, by The Times", "", schema, `{"extendedTextMessage":{"text":"news","contextInfo":{"isForwarded":true,"forwardedNewsletterMessageInfo":{"newsletterName":"The Times"}}}}`),
		row("first message after an advertisement", "`Hi ⏎ [came by the advertisement: Sale, https://ad.example]`", "", schema,
			`{"extendedTextMessage":{"text":"Hi","contextInfo":{"externalAdReply":{"title":"Sale","sourceType":"ad","sourceURL":"https://ad.example"}}}}`),
		row("disappearing message", "`psst`", "every message carries the chat's timer; reactions and deletions have none", timers, `{"ephemeralMessage":{"message":{"extendedTextMessage":{"text":"psst","contextInfo":{"expiration":86400}}}}}`),
		row("edit, deletion, reaction", "told with the next turn", "all three, of the bot's own messages", schema, ""),
	}
}

func files() []Row {
	return []Row{
		row("picture", "`look`, image", "JPEG and PNG with size and thumbnail; other formats as a document", schema, `{"imageMessage":{"caption":"look",`+key+`}}`),
		row("picture in better quality", "takes the place of the small one", "", twins, ""),
		row("motion photo", "the picture alone", "", twins, ""),
		row("album", "one message with all files, `caption ⏎ caption`", "one message a file", twins, ""),
		row("video, round video, GIF", "`look`, video, 9 s", "MP4 up to 16 MB with size and length, larger as a document", schema, `{"videoMessage":{"caption":"look","seconds":9,`+key+`}}`),
		row("voice message", "audio, voice, 14 s; it is not transcribed", "Opus in Ogg as `audio/ogg; codecs=opus` with length and waveform", "openclaw/openclaw#7", `{"audioMessage":{"PTT":true,"seconds":14,`+key+`}}`),
		row("audio", "audio, 200 s", "up to 16 MB and without a text, otherwise as a document", schema, `{"audioMessage":{"seconds":200,`+key+`}}`),
		row("sticker", "sticker", "WebP of at most 512 × 512 pixels and 500 kB without a text, otherwise as a document", schema, `{"stickerMessage":{`+key+`}}`),
		row("document", "`the figures`, document q3.pdf", "any file up to 100 MB", schema, `{"documentWithCaptionMessage":{"message":{"documentMessage":{"caption":"the figures","fileName":"q3.pdf",`+key+`}}}}`),
		row("viewed once", "image, where WhatsApp gives it to linked devices; otherwise unreadable: it says so", "", schema, ""),
	}
}

func cards() []Row {
	return []Row{
		row("place", "`[location: 52.500000, 13.400000, Berlin]`", "", schema, `{"locationMessage":{"degreesLatitude":52.5,"degreesLongitude":13.4,"name":"Berlin"}}`),
		row("live place", "`[live location: 1.000000, 2.000000, on my way]`; later positions are not told", "", schema, `{"liveLocationMessage":{"degreesLatitude":1,"degreesLongitude":2,"caption":"on my way"}}`),
		row("contact", "`[contact: Jane, +15550100007]`", "", "RFC 6350", `{"contactMessage":{"vcard":"BEGIN:VCARD\nFN:Jane\nTEL:+15550100007\nEND:VCARD"}}`),
		row("contacts", "`[contacts: Jane, +1; Bob]`", "", "RFC 6350", `{"contactsArrayMessage":{"contacts":[{"vcard":"FN:Jane\nTEL:+1"},{"displayName":"Bob"}]}}`),
		row("event", "`[event: Dinner, Tue 25 Nov 2025 19:46 UTC] ⏎ At mine ⏎ [location: Home]`", "", schema, `{"eventMessage":{"name":"Dinner","description":"At mine","startTime":"1764100000","location":{"name":"Home"}}}`),
		row("poll", "`[poll: Lunch? — yes / no, one answer]`; votes are not told", "", schema, `{"pollCreationMessageV3":{"name":"Lunch?","options":[{"optionName":"yes"},{"optionName":"no"}],"selectableOptionsCount":1}}`),
		row("result of a poll", "`[result of the poll: Lunch? — yes: 3]`", "", schema, `{"pollResultSnapshotMessage":{"name":"Lunch?","pollVotes":[{"optionName":"yes","optionVoteCount":"3"}]}}`),
		row("invitation to a group", "`[invitation to the group \"crew\"] ⏎ join us`", "", schema, `{"groupInviteMessage":{"groupName":"crew","caption":"join us"}}`),
		row("invitation to a channel", "`[invitation to follow the channel \"News\"]`", "", schema, `{"newsletterFollowerInviteMessageV2":{"newsletterName":"News"}}`),
		row("planned call", "`[planned video call: Sync, Tue 25 Nov 2025 19:46 UTC]`", "", schema, `{"scheduledCallCreationMessage":{"title":"Sync","callType":"VIDEO","scheduledTimestampMS":"1764100000000"}}`),
		row("call", "`[video call: missed]`", "", schema, `{"callLogMesssage":{"isVideo":true,"callOutcome":"MISSED"}}`),
		row("status of a group", "`we moved`", "", schema, `{"groupStatusMessageV2":{"message":{"conversation":"we moved"}}}`),
		row("sticker pack", "`[sticker pack: Cats, Ann]`", "", schema, `{"stickerPackMessage":{"name":"Cats","publisher":"Ann"}}`),
		row("song", "`[song: Blue, Ann]`", "", schema, `{"musicMessage":{"embeddedMusic":{"title":"Blue","author":"Ann"}}}`),
	}
}

func business() []Row {
	return []Row{
		row("template", "`Order 7 ⏎ is on its way ⏎ [buttons: Track https://t.example]`", "", schema,
			`{"templateMessage":{"hydratedFourRowTemplate":{"hydratedTitleText":"Order 7","hydratedContentText":"is on its way","hydratedButtons":[{"urlButton":{"displayText":"Track","URL":"https://t.example"}}]}}}`),
		row("buttons", "`Sure? ⏎ [buttons: Yes / No]`", "", schema, `{"buttonsMessage":{"contentText":"Sure?","buttons":[{"buttonText":{"displayText":"Yes"}},{"buttonText":{"displayText":"No"}}]}}`),
		row("list", "`Menu ⏎ [choices: Soup hot / Bread]`", "", schema, `{"listMessage":{"title":"Menu","sections":[{"rows":[{"title":"Soup","description":"hot"},{"title":"Bread"}]}]}}`),
		row("button that copies a code", "`Your code ⏎ [buttons: Copy 4711]`", "", schema,
			`{"interactiveMessage":{"body":{"text":"Your code"},"nativeFlowMessage":{"buttons":[{"name":"cta_copy","buttonParamsJSON":"{\"display_text\":\"Copy\",\"copy_code\":\"4711\"}"}]}}}`),
		row("interactive message", "`Pay ⏎ [buttons: Now https://pay.example]`", "", schema,
			`{"interactiveMessage":{"body":{"text":"Pay"},"nativeFlowMessage":{"buttons":[{"name":"cta_url","buttonParamsJSON":"{\"display_text\":\"Now\",\"url\":\"https://pay.example\"}"}]}}}`),
		row("what was picked", "`Yes`", "", schema, `{"buttonsResponseMessage":{"selectedButtonID":"yes-1","selectedDisplayText":"Yes"}}`),
		row("what was picked, without a text", "`[picked: yes-1]`", "", schema, `{"buttonsResponseMessage":{"selectedButtonID":"yes-1"}}`),
		row("product", "`[product: Chair, 12.50 EUR] ⏎ of wood`", "", schema, `{"productMessage":{"product":{"title":"Chair","currencyCode":"EUR","priceAmount1000":"12500","description":"of wood"}}}`),
		row("order", "`[order: Shop, 2 items, 25.00 EUR] ⏎ soon please`", "", schema, `{"orderMessage":{"orderTitle":"Shop","itemCount":2,"totalAmount1000":"25000","totalCurrencyCode":"EUR","message":"soon please"}}`),
		row("invoice", "`[invoice: for May]`", "", schema, `{"invoiceMessage":{"note":"for May"}}`),
		row("payment, request for one", "`[request for a payment: 3.00 INR] ⏎ for lunch`", "", schema, `{"requestPaymentMessage":{"amount1000":"3000","currencyCodeIso4217":"INR","noteMessage":{"conversation":"for lunch"}}}`),
	}
}

func notices() []Row {
	return []Row{
		row("pin", "unreadable: a message was pinned", "", schema, `{"pinInChatMessage":{"key":{"ID":"T"},"type":"PIN_FOR_ALL"}}`),
		row("kept in the chat", "unreadable: a disappearing message was kept in the chat, or is no longer kept", "", schema, `{"keepInChatMessage":{"key":{"ID":"T"}}}`),
		row("for the phone only", "unreadable: a message that WhatsApp shows on the phone only", "", schema, `{"placeholderMessage":{}}`),
		row("vote, receipt, key", "not told", "", schema, `{"pollUpdateMessage":{}}`),
		row("people who come and go, name of a group", "told with the next turn", "", schema, ""),
		row("written by the owner on another device", "told, no turn of its own", "", schema, ""),
		row("status, channel, broadcast list, incoming call", "", "", schema, ""),
	}
}
