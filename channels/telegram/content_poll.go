package telegram

import (
	"regexp"
	"slices"
	"strings"

	"parley/channels"
)

func (p *wirePoll) words() string {
	var options []string
	for _, o := range p.Options {
		text := o.words()
		if votes := o.Votes.number(); votes != "" {
			text += " (" + votes + ")"
		}
		options = append(options, text)
	}
	what, about := "poll", ""
	if p.Type == "quiz" {
		what = "quiz"
	}
	if p.Closed {
		what = "closed " + what
	}
	if p.About != "" {
		about = ": " + marked(p.About, p.AboutEntities, nil)
	}
	return channels.HostLine(what + ": " + marked(p.Question, p.QuestionEntities, nil) + p.Media.words() + about + ": " + strings.Join(options, " / ") + p.solution())
}

func (o wireOption) words() string { return marked(o.Text, o.Entities, nil) + o.Media.words() }

// words says behind a text what is shown with it. Its files come along in the order of the words.
func (m *wirePolled) words() string {
	if m == nil {
		return ""
	}
	words := m.thing()
	if files := m.media(); words == "" && len(files) > 0 {
		words = "[" + strings.Replace(string(files[0].Kind), string(channels.Image), "picture", 1) + "]"
	}
	if m.Link != nil && m.Link.URL != "" {
		words = strings.TrimSpace("(" + channels.LinkAddress(m.Link.URL) + ") " + words)
	}
	return behind(" ", words)
}

// solution is the right answer of a quiz and why it is right: the platform tells it when the quiz is closed or was sent by the bot's side.
func (p *wirePoll) solution() string {
	right := p.Rights
	if p.Right != nil {
		right = append(right, *p.Right)
	}
	var answers []string
	for _, i := range right {
		if i >= 0 && i < len(p.Options) {
			answers = append(answers, marked(p.Options[i].Text, p.Options[i].Entities, nil))
		}
	}
	text := ""
	if len(answers) > 0 {
		text = "; right answer: " + strings.Join(answers, " / ")
	}
	return text + behind("; explanation: ", strings.TrimSpace(marked(p.Why, p.WhyEntities, nil)+p.WhyMedia.words()))
}

// words lists the tasks, with those that are done.
func (c *wireChecklist) words() string {
	lines := "checklist: " + marked(c.Title, c.Entities, nil)
	for _, task := range c.Tasks {
		lines += "\n" + task.line()
	}
	return channels.HostLine(lines)
}

func (t wireTask) line() string {
	if t.By != nil || t.In != nil || t.Done != 0 {
		return "☑ " + marked(t.Text, t.Entities, nil)
	}
	return "☐ " + marked(t.Text, t.Entities, nil)
}

// still is what a message says without the votes of its poll and the numbers on its buttons, which bots count presses with. counts reports
// whether there are such.
//
// source: tdlib/telegram-bot-api#388 (a reaction comes as an edit, with the votes of that moment)
func (c *wireContent) still() (still wireContent, counts bool) {
	still = *c
	if c.Poll != nil {
		poll := *c.Poll
		poll.Options = slices.Clone(poll.Options)
		for i := range poll.Options {
			poll.Options[i].Votes = 0
		}
		still.Poll, counts = &poll, true
	}
	if c.Markup != nil {
		markup := *c.Markup
		markup.Buttons = nil
		for _, row := range c.Markup.Buttons {
			row = slices.Clone(row)
			for i := range row {
				row[i].Text = strings.TrimSpace(pressed.ReplaceAllString(row[i].Text, ""))
			}
			markup.Buttons = append(markup.Buttons, row)
		}
		still.Markup, counts = &markup, true
	}
	return still, counts
}

// pressed finds a number at the end of a button, as bots count with: 👍 12, Yes (3), 1.2K.
var pressed = regexp.MustCompile(`[ \x{a0}·:|(-]*[0-9][0-9.,]*[KkM]?\)?$`)
