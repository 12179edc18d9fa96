package telegram

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"golang.org/x/text/currency"

	"parley/channels"
)

// What a message may carry that is neither text nor a file, and what Telegram reports in words of its own that a person caused.
type (
	wireThings struct {
		Location  *wireLocation    `json:"location"`
		Venue     *wireVenue       `json:"venue"`
		Contact   *wireContact     `json:"contact"`
		Poll      *wirePoll        `json:"poll"`
		Dice      *wireDice        `json:"dice"`
		Checklist *wireChecklist   `json:"checklist"`
		Game      *wireTitled      `json:"game"`
		Story     *wireStory       `json:"story"`
		Paid      *wirePaid        `json:"paid_media"`
		Rich      *json.RawMessage `json:"rich_message"` // rare: a pointer takes a third of the room
		Invoice   *wireTitled      `json:"invoice"`
		Giveaway  *wireGiveaway    `json:"giveaway"`
		Winners   *wireGiveaway    `json:"giveaway_winners"`
		Gift      *wireGift        `json:"gift"`
		Unique    *wireGift        `json:"unique_gift"`
		Payment   *wireMoney       `json:"successful_payment"`
		Refund    *wireMoney       `json:"refunded_payment"`
		Users     *wireShared      `json:"users_shared"`
		SharedIn  *wireChat        `json:"chat_shared"`
		WebApp    *struct {
			Data   string `json:"data"`
			Button string `json:"button_text"`
		} `json:"web_app_data"`
	}
	wireLocation struct {
		Latitude   float64  `json:"latitude"`
		Longitude  float64  `json:"longitude"`
		LivePeriod quantity `json:"live_period"`
	}
	wireVenue struct {
		Location *wireLocation `json:"location"`
		Title    string        `json:"title"`
		Address  string        `json:"address"`
	}
	wireContact struct {
		Phone     string `json:"phone_number"`
		FirstName string `json:"first_name"`
		LastName  string `json:"last_name"`
		Card      string `json:"vcard"`
	}
	wirePoll struct {
		Question string       `json:"question"`
		Options  []wireOption `json:"options"`
		Closed   bool         `json:"is_closed"`
		About    string       `json:"description"`
		Type     string       `json:"type"` // regular or quiz
		Right    *int         `json:"correct_option_id"`
		Rights   []int        `json:"correct_option_ids"`
		Why      string       `json:"explanation"`
		Media    *wirePolled  `json:"media"`
		WhyMedia *wirePolled  `json:"explanation_media"`

		QuestionEntities []wireEntity `json:"question_entities"`
		AboutEntities    []wireEntity `json:"description_entities"`
		WhyEntities      []wireEntity `json:"explanation_entities"`
	}
	wireOption struct {
		ID       string       `json:"persistent_id"`
		Text     string       `json:"text"`
		Entities []wireEntity `json:"text_entities"`
		Votes    quantity     `json:"voter_count"`
		Media    *wirePolled  `json:"media"`
	}
	// wirePolled is what a poll, an option or an explanation shows, https://core.telegram.org/bots/api#pollmedia.
	wirePolled struct {
		wireFiles
		Link *wireURL `json:"link"`
	}
	wireDice struct {
		Emoji string   `json:"emoji"`
		Value quantity `json:"value"`
	}
	wireChecklist struct {
		Title    string       `json:"title"`
		Entities []wireEntity `json:"title_entities"`
		Tasks    []wireTask   `json:"tasks"`
	}
	wireTask struct {
		ID       int64        `json:"id"`
		Text     string       `json:"text"`
		Entities []wireEntity `json:"text_entities"`
		By       *wireUser    `json:"completed_by_user"`
		In       *wireChat    `json:"completed_by_chat"`
		Done     quantity     `json:"completion_date"`
	}
	// wireTitled is a game or an invoice.
	wireTitled struct {
		Title       string       `json:"title"`
		Description string       `json:"description"`
		Text        string       `json:"text"` // of a game: its high scores, or what it is about in other words
		Entities    []wireEntity `json:"text_entities"`
		wireMoney
	}
	wireMoney struct {
		Currency string   `json:"currency"`
		Amount   quantity `json:"total_amount"` // in the smallest unit of the currency
	}
	wireStory struct {
		Chat *wireChat `json:"chat"`
	}
	wirePaid struct {
		Stars quantity    `json:"star_count"`
		Media []wireFiles `json:"paid_media"`
	}
	wireGiveaway struct {
		Chat    *wireChat  `json:"chat"`
		Chats   []wireChat `json:"chats"`
		Date    quantity   `json:"winners_selection_date"`
		Count   quantity   `json:"winner_count"`
		Winners []wireUser `json:"winners"`
		Prize   string     `json:"prize_description"`
		Stars   quantity   `json:"prize_star_count"`
		Months  quantity   `json:"premium_subscription_month_count"`
	}
	wireGift struct {
		Gift struct {
			Stars  quantity  `json:"star_count"`
			Name   string    `json:"base_name"` // of a unique one, as the number
			Number quantity  `json:"number"`
			Image  *wireFile `json:"sticker"`
		} `json:"gift"`
		Text     string       `json:"text"`
		Entities []wireEntity `json:"entities"`
	}
	wireSuggested struct {
		State string `json:"state"`
		Price struct {
			Currency string   `json:"currency"`
			Amount   quantity `json:"amount"` // in stars, or billionths of a Toncoin
		} `json:"price"`
		At quantity `json:"send_date"`
	}
	wireShared struct {
		Users []wireUser `json:"users"`
	}
)

// words is the text of a message as it was typed, with its entities; without text, what there is instead.
func (c *wireContent) words() (string, []wireEntity) {
	switch {
	case c.Text != "":
		return c.Text, c.Entities
	case c.Caption != "":
		return c.Caption, c.CaptionEntities
	}
	return c.thing(), nil
}

// written is the text of words with its marks, without cuts: what a person typed reads like nothing that the host says.
func (c *wireContent) written(text string, entities []wireEntity, cuts []span) string {
	if c.Text == "" && c.Caption == "" {
		return marked(text, entities, cuts)
	}
	return channels.Typed(marked(text, entities, cuts))
}

// beside is what a message says besides its words: what came with a caption, and the links of its buttons.
func (c *wireContent) beside() string {
	var b strings.Builder
	if c.Text != "" || c.Caption != "" {
		if thing := c.thing(); thing != "" {
			b.WriteString("\n" + thing)
		}
	}
	if c.Markup != nil {
		for _, row := range c.Markup.Buttons {
			for _, button := range row {
				b.WriteString("\n" + channels.HostLine("button: "+button.words()))
			}
		}
	}
	if c.Suggested != nil {
		b.WriteString("\n" + c.Suggested.words())
	}
	if c.Via != nil {
		b.WriteString("\n" + channels.HostLine("sent with the bot "+cmp.Or(c.Via.name(), c.Via.Username)))
	}
	if c.Signature != "" {
		b.WriteString("\n" + channels.HostLine("signed: "+c.Signature))
	}
	if c.unknown {
		b.WriteString("\n[with something of a kind that is not known here]")
	}
	return b.String()
}

// words names a button with what it opens or copies.
func (b *wireButton) words() string {
	target := b.URL
	for _, page := range []*wireURL{b.WebApp, b.Login} {
		if page != nil {
			target = cmp.Or(target, page.URL)
		}
	}
	switch {
	case target != "":
		return channels.Link(b.Text, target)
	case b.Copy != nil:
		return b.Text + ", copies: " + b.Copy.Text
	}
	return b.Text
}

// preview names the link that a message shows a preview of, unless its words have it.
func (c *wireContent) preview(words string) string {
	if c.Preview == nil || c.Preview.URL == "" || strings.Contains(marked(words, append(c.Entities, c.CaptionEntities...), nil), strings.TrimSuffix(c.Preview.URL, "/")) {
		return ""
	}
	return channels.CleanText("\n" + channels.HostLine("preview: "+c.Preview.URL))
}

// thing words what people can send that is neither text nor a file, and of files what their bytes do not show at once.
func (t *wireFiles) thing() string {
	switch {
	case t.Venue != nil:
		return channels.HostLine("place: " + t.Venue.Title + behind(", ", t.Venue.Address) + t.Venue.Location.behind())
	case t.Location != nil:
		return t.Location.words()
	case t.Contact != nil:
		return t.Contact.words()
	case t.Poll != nil:
		return t.Poll.words()
	case t.Dice != nil:
		return channels.HostLine("dice: " + t.Dice.Emoji + behind(" ", t.Dice.Value.number()))
	case t.Checklist != nil:
		return t.Checklist.words()
	case t.Game != nil:
		return channels.HostLine("game: " + t.Game.Title + ": " + t.Game.Description + behind("; ", marked(t.Game.Text, t.Game.Entities, nil)))
	case t.Story != nil:
		if owner := t.Story.owner(); owner != "" {
			return channels.HostLine("story of " + owner)
		}
		return "[story]"
	case t.Paid != nil:
		return channels.HostLine("paid media: " + strconv.Itoa(len(t.Paid.Media)) + behind(" for ", t.Paid.Stars.of("star")))
	case t.Rich != nil:
		text, _ := richText(*t.Rich)
		return cmp.Or(text, "[a message without words]")
	case t.Sticker != nil:
		return channels.Typed(t.Sticker.Emoji)
	case t.Audio != nil:
		if name := strings.Trim(t.Audio.Performer+" – "+t.Audio.Title, " –"); name != "" {
			return channels.HostLine("audio: " + name)
		}
		return ""
	}
	return t.deal()
}

// deal words what has to do with money, gifts and what a person picked for the bot.
func (t *wireThings) deal() string {
	switch {
	case t.Invoice != nil:
		return channels.HostLine("invoice: " + t.Invoice.Title + ": " + t.Invoice.Description + behind(", ", t.Invoice.price()))
	case t.Payment != nil:
		return channels.HostLine("payment" + behind(": ", t.Payment.price()))
	case t.Refund != nil:
		return channels.HostLine("refund" + behind(": ", t.Refund.price()))
	case t.Giveaway != nil:
		return t.Giveaway.words()
	case t.Winners != nil:
		return t.Winners.results()
	case t.Gift != nil:
		return channels.HostLine("gift" + behind(" of ", t.Gift.Gift.Stars.of("star")) + t.Gift.said())
	case t.Unique != nil:
		return channels.HostLine("unique gift: " + t.Unique.Gift.Name + behind(" #", t.Unique.Gift.Number.number()) + t.Unique.said())
	case t.Users != nil:
		var names []string
		for i := range t.Users.Users {
			names = append(names, cmp.Or(t.Users.Users[i].name(), t.Users.Users[i].Username, "a person without a name"))
		}
		return channels.HostLine("picked people: " + strings.Join(names, ", "))
	case t.SharedIn != nil:
		return channels.HostLine("picked chat: " + cmp.Or(t.SharedIn.Title, t.SharedIn.Username, "a chat without a name"))
	case t.WebApp != nil:
		return channels.HostLine("sent by the web app " + t.WebApp.Button + ": " + t.WebApp.Data)
	}
	return ""
}

func (l *wireLocation) words() string {
	what := "location"
	if l.LivePeriod > 0 {
		what = "live location"
	}
	return channels.HostLine(strings.TrimSuffix(what+": "+channels.Degrees(l.Latitude, l.Longitude), ": "))
}

// behind is where a place is.
func (l *wireLocation) behind() string {
	if l == nil || l.Latitude == 0 && l.Longitude == 0 {
		return ""
	}
	if at := channels.Degrees(l.Latitude, l.Longitude); at != "" {
		return " (" + at + ")"
	}
	return ""
}

// words names a person, with what the card says besides the name and the number.
func (c *wireContact) words() string {
	name, more := strings.TrimSpace(c.FirstName+" "+c.LastName), ""
	for line := range strings.Lines(c.Card) {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		field, _, _ = strings.Cut(strings.ToUpper(field), ";")
		if value = strings.Trim(strings.ReplaceAll(value, `\,`, ","), "; "); value == "" {
			continue
		}
		switch _, sort, grouped := strings.Cut(field, "."); cmp.Or(map[bool]string{true: sort}[grouped], field) {
		case "FN":
			name = cmp.Or(name, value)
		case "TEL":
			if value = strings.TrimPrefix(value, "tel:"); dialled(value) != dialled(c.Phone) {
				more += ", " + value
			}
		case "EMAIL", "ORG", "TITLE", "URL", "NOTE", "ADR":
			more += ", " + value
		}
	}
	return channels.HostLine("contact: " + strings.TrimPrefix(name+", "+c.Phone, ", ") + more)
}

// dialled gives the digits of a telephone number.
func dialled(number string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, number)
}

func (s *wireStory) owner() string {
	if s.Chat == nil {
		return ""
	}
	return s.Chat.sender().Name
}

// price words an amount, "" = unknown. Most currencies have a hundredth, some a thousandth or nothing smaller.
func (m *wireMoney) price() string {
	if m.Currency == "XTR" || m.Amount.number() == "" {
		return m.Amount.of("star")
	}
	digits := 2
	if unit, err := currency.ParseISO(m.Currency); err == nil {
		digits, _ = currency.Standard.Rounding(unit)
	}
	return fmt.Sprintf("%.*f %s", digits, float64(m.Amount)/math.Pow10(digits), m.Currency)
}

// words describes a post that a person suggests to a channel: its state, its price and when it is to be sent.
func (s *wireSuggested) words() string {
	price := ""
	if s.Price.Currency == "TON" {
		const nano = 1e9
		price = strconv.FormatFloat(float64(s.Price.Amount)/nano, 'f', -1, 64) + " TON"
	} else {
		price = s.Price.Amount.of("star")
	}
	if s.Price.Amount.number() == "" {
		price = ""
	}
	return channels.HostLine("suggested post" + behind(", ", s.State) + behind(", for ", price) + behind(", to be sent ", moment(s.At)))
}

func (g *wireGiveaway) words() string {
	var chats []string
	for i := range g.Chats {
		chats = append(chats, g.Chats[i].sender().Name)
	}
	facts := strings.TrimSpace(g.Count.of("winner") + behind(" on ", moment(g.Date)))
	return channels.HostLine("giveaway in " + strings.Join(chats, ", ") + behind(": ", facts) + g.prize())
}

func (g *wireGiveaway) results() string {
	var names []string
	for i := range g.Winners {
		names = append(names, g.Winners[i].name())
	}
	in := ""
	if g.Chat != nil {
		in = " in " + g.Chat.sender().Name
	}
	return channels.HostLine(fmt.Sprintf("winners of the giveaway%s: %s%s", in, strings.Join(names, ", "), g.prize()))
}

func (g *wireGiveaway) prize() string {
	var parts []string
	if g.Prize != "" {
		parts = append(parts, g.Prize)
	}
	if stars := g.Stars.of("star"); stars != "" {
		parts = append(parts, stars)
	}
	if months := g.Months.of("month"); months != "" {
		parts = append(parts, "Telegram Premium for "+months)
	}
	if len(parts) == 0 {
		return ""
	}
	return "; prize: " + strings.Join(parts, ", ")
}

// behind puts a fact behind what joins it to the words in front; nothing when it is not known.
func behind(joint, fact string) string {
	if fact == "" {
		return ""
	}
	return joint + fact
}

// said is what was written along with a gift.
func (g *wireGift) said() string {
	if g.Text == "" {
		return ""
	}
	return ": " + channels.CleanText(marked(g.Text, g.Entities, nil))
}
