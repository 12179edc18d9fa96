package whatsapp

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"go.mau.fi/whatsmeow/proto/waE2E"

	"parley/channels"
)

// readAnswer reads what people pick in messages of companies. An answer without a text to show is named by its id.
func readAnswer(msg *waE2E.Message) (content, bool) {
	switch {
	case msg.GetButtonsResponseMessage() != nil:
		m := msg.GetButtonsResponseMessage()
		return content{text: picked(m.GetSelectedButtonID(), m.GetSelectedDisplayText()), context: m.GetContextInfo()}, true
	case msg.GetListResponseMessage() != nil:
		m := msg.GetListResponseMessage()
		return content{text: picked(m.GetSingleSelectReply().GetSelectedRowID(), m.GetTitle(), m.GetDescription()), context: m.GetContextInfo()}, true
	case msg.GetTemplateButtonReplyMessage() != nil:
		m := msg.GetTemplateButtonReplyMessage()
		return content{text: picked(m.GetSelectedID(), m.GetSelectedDisplayText()), context: m.GetContextInfo()}, true
	case msg.GetInteractiveResponseMessage() != nil:
		m := msg.GetInteractiveResponseMessage()
		flow := m.GetNativeFlowResponseMessage()
		return content{text: picked(strings.TrimSpace(flow.GetName()+" "+flow.GetParamsJSON()), m.GetBody().GetText()), context: m.GetContextInfo()}, true
	}
	return content{}, false
}

func picked(id string, shown ...string) string {
	if text := channels.Typed(join(shown...)); text != "" {
		return text
	}
	return card("picked", short(id))
}

// readTemplate reads messages with buttons, as companies send them.
func readTemplate(msg *waE2E.Message) (content, bool) {
	switch {
	case msg.GetInteractiveMessage() != nil:
		return carousel(interactive(msg.GetInteractiveMessage()), msg.GetInteractiveMessage()), true
	case msg.GetButtonsMessage() != nil:
		m := msg.GetButtonsMessage()
		c := attached(m)
		var labels []string
		for _, b := range m.GetButtons()[:min(len(m.GetButtons()), mostListed)] {
			labels = append(labels, b.GetButtonText().GetDisplayText())
		}
		c.text, c.context = join(channels.Typed(m.GetText()), c.text, channels.Typed(join(m.GetContentText(), m.GetFooterText())), buttons(labels)), m.GetContextInfo()
		return c, true
	case msg.GetListMessage() != nil:
		m := msg.GetListMessage()
		return content{text: join(channels.Typed(join(m.GetTitle(), m.GetDescription(), m.GetFooterText())), rows(m)), context: m.GetContextInfo()}, true
	case msg.GetTemplateMessage() != nil:
		return template(msg.GetTemplateMessage()), true
	case msg.GetHighlyStructuredMessage() != nil:
		return structured(msg.GetHighlyStructuredMessage()), true
	}
	return content{}, false
}

// holder is what may have a file or a place at its head.
type holder interface {
	GetDocumentMessage() *waE2E.DocumentMessage
	GetImageMessage() *waE2E.ImageMessage
	GetVideoMessage() *waE2E.VideoMessage
	GetLocationMessage() *waE2E.LocationMessage
}

func attached(h holder) content {
	c, ok := readMedia(&waE2E.Message{ImageMessage: h.GetImageMessage(), VideoMessage: h.GetVideoMessage(), DocumentMessage: h.GetDocumentMessage()})
	if !ok && h.GetLocationMessage() != nil {
		c.text = location(h.GetLocationMessage())
	}
	return c
}

func interactive(m *waE2E.InteractiveMessage) content {
	c := content{}
	if h := m.GetHeader(); h != nil {
		c = attached(h)
		if p := h.GetProductMessage(); p != nil {
			c = product(p)
		}
	}
	var labels []string
	flow := m.GetNativeFlowMessage().GetButtons()
	for _, b := range flow[:min(len(flow), mostListed)] {
		labels = append(labels, flowButton(b))
	}
	c.text = join(channels.Typed(join(m.GetHeader().GetTitle(), m.GetHeader().GetSubtitle())), c.text, channels.Typed(join(m.GetBody().GetText(), m.GetFooter().GetText())), buttons(labels))
	c.context = m.GetContextInfo()
	return c
}

// carousel adds the cards that are shown beside each other.
func carousel(c content, m *waE2E.InteractiveMessage) content {
	cards := m.GetCarouselMessage().GetCards()
	for _, one := range cards[:min(len(cards), mostListed)] {
		next := interactive(one)
		c.text, c.media = join(c.text, next.text), append(c.media, next.media...)
	}
	return c
}

// flowButton gives what a button shows and where it leads; both are in JSON.
func flowButton(b *waE2E.InteractiveMessage_NativeFlowMessage_NativeFlowButton) string {
	var p struct {
		Text  string `json:"display_text"`
		Title string `json:"title"`
		URL   string `json:"url"`
		Phone string `json:"phone_number"`
		Code  string `json:"copy_code"`
	}
	if json.Unmarshal([]byte(b.GetButtonParamsJSON()), &p) != nil {
		return b.GetName()
	}
	return labelled(cmp.Or(p.Text, p.Title, b.GetName()), cmp.Or(p.URL, p.Phone, p.Code))
}

// labelled puts where something leads behind its name.
func labelled(name, to string) string {
	if to == "" || to == name {
		return name
	}
	return strings.TrimSpace(name + " " + to)
}

func buttons(labels []string) string {
	var list []string
	for _, l := range labels {
		if l != "" {
			list = append(list, l)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return card("buttons", strings.Join(list, " / "))
}

func rows(m *waE2E.ListMessage) string {
	var list []string
	for _, s := range m.GetSections() {
		title := s.GetTitle() // stands above its rows
		for _, r := range s.GetRows() {
			if len(list) == mostListed {
				break
			}
			row := labelled(r.GetTitle(), r.GetDescription())
			if title != "" {
				row, title = title+": "+row, ""
			}
			list = append(list, row)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return card("choices", strings.Join(list, " / "))
}

func template(m *waE2E.TemplateMessage) content {
	c := content{}
	hydrated := m.GetHydratedFourRowTemplate()
	if hydrated == nil {
		hydrated = m.GetHydratedTemplate()
	}
	switch {
	case hydrated != nil:
		c = attached(hydrated)
		var labels []string
		for _, b := range hydrated.GetHydratedButtons()[:min(len(hydrated.GetHydratedButtons()), mostListed)] {
			labels = append(labels, cmp.Or(b.GetQuickReplyButton().GetDisplayText(), labelled(b.GetUrlButton().GetDisplayText(), b.GetUrlButton().GetURL()),
				labelled(b.GetCallButton().GetDisplayText(), b.GetCallButton().GetPhoneNumber())))
		}
		c.text = join(channels.Typed(hydrated.GetHydratedTitleText()), c.text, channels.Typed(join(hydrated.GetHydratedContentText(), hydrated.GetHydratedFooterText())), buttons(labels))
	case m.GetInteractiveMessageTemplate() != nil:
		c = carousel(interactive(m.GetInteractiveMessageTemplate()), m.GetInteractiveMessageTemplate())
	case m.GetFourRowTemplate() != nil:
		t := m.GetFourRowTemplate()
		c = attached(t)
		c.text = join(structured(t.GetHighlyStructuredMessage()).text, c.text, structured(t.GetContent()).text, structured(t.GetFooter()).text)
	}
	if c.text == "" && len(c.media) == 0 {
		c.text = card("template", m.GetTemplateID())
	}
	if m.GetContextInfo() != nil {
		c.context = m.GetContextInfo()
	}
	return c
}

// structured reads a text whose words are on the receiver's device: its name and what is put into it.
func structured(m *waE2E.HighlyStructuredMessage) content {
	if m == nil {
		return content{}
	}
	if t := m.GetHydratedHsm(); t != nil && t.GetHydratedTemplate() != nil || t.GetFormat() != nil {
		return template(t)
	}
	list := append([]string{m.GetElementName()}, m.GetParams()[:min(len(m.GetParams()), mostListed)]...)
	return content{text: card("template", list...)}
}

// readShop reads products and orders.
func readShop(msg *waE2E.Message) (content, bool) {
	switch {
	case msg.GetProductMessage() != nil:
		return product(msg.GetProductMessage()), true
	case msg.GetOrderMessage() != nil:
		m := msg.GetOrderMessage()
		count := ""
		if n := m.GetItemCount(); n > 0 {
			count = fmt.Sprintf("%d items", n)
		}
		status := ""
		if m.Status != nil {
			status = strings.ToLower(m.GetStatus().String())
		}
		text := join(card("order", m.GetOrderTitle(), count, amount(m.GetTotalAmount1000(), m.GetTotalCurrencyCode()), status), channels.Typed(m.GetMessage()))
		return content{text: text, context: m.GetContextInfo()}, true
	}
	return content{}, false
}

func product(m *waE2E.ProductMessage) content {
	c := content{context: m.GetContextInfo()}
	p, catalog := m.GetProduct(), m.GetCatalog()
	cost := amount(p.GetPriceAmount1000(), p.GetCurrencyCode())
	switch sale := amount(p.GetSalePriceAmount1000(), p.GetCurrencyCode()); {
	case sale != "" && cost != "":
		cost = sale + " instead of " + cost
	case sale != "":
		cost = sale
	}
	c.text = card("product", p.GetTitle(), cost, p.GetURL())
	picture := p.GetProductImage()
	if p == nil {
		c.text, picture = card("catalogue", catalog.GetTitle()), catalog.GetCatalogImage()
	}
	c.text = join(c.text, channels.Typed(join(cmp.Or(p.GetDescription(), catalog.GetDescription()), m.GetBody(), m.GetFooter())))
	if picture.GetDirectPath() != "" {
		c.media = media(channels.Image, "image", "", picture)
	}
	return c
}

// readPayment reads what has to do with money.
func readPayment(msg *waE2E.Message) (content, bool) {
	switch {
	case msg.GetInvoiceMessage() != nil:
		return content{text: card("invoice", msg.GetInvoiceMessage().GetNote())}, true
	case msg.GetSendPaymentMessage() != nil:
		return payment("payment", msg.GetSendPaymentMessage().GetNoteMessage()), true
	case msg.GetRequestPaymentMessage() != nil:
		m := msg.GetRequestPaymentMessage()
		sum := cmp.Or(money(m.GetAmount()), amount(int64(min(m.GetAmount1000(), 1<<62)), m.GetCurrencyCodeIso4217())) //nolint:gosec // bounded by min
		return payment("request for a payment", m.GetNoteMessage(), sum), true
	case msg.GetDeclinePaymentRequestMessage() != nil:
		return content{text: channels.HostLine("a request for a payment was declined")}, true
	case msg.GetCancelPaymentRequestMessage() != nil:
		return content{text: channels.HostLine("a request for a payment was cancelled")}, true
	case msg.GetPaymentInviteMessage() != nil:
		return content{text: channels.HostLine("invitation to pay by WhatsApp")}, true
	case msg.GetSplitPaymentMessage() != nil:
		m := msg.GetSplitPaymentMessage()
		return content{text: card("payment to be split", m.GetDescription(), money(m.GetTotalAmount())), context: m.GetContextInfo()}, true
	}
	return content{}, false
}

// payment words a payment with the note that came with it.
func payment(what string, note *waE2E.Message, parts ...string) content {
	c := content{}
	if inner := unwrap(note); note != nil && inner.GetSendPaymentMessage() == nil && inner.GetRequestPaymentMessage() == nil {
		c = read(inner)
	}
	c.text, c.unknown = join(card(what, parts...), c.text), ""
	return c
}

func money(m *waE2E.Money) string {
	return price(m.GetValue(), int64(max(m.GetOffset(), 1)), m.GetCurrencyCode())
}
