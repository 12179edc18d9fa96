package telegram

import (
	"strings"
	"testing"
	"unicode/utf8"

	"parley/channels"
)

// What entities say beyond the letters reaches the model; commands and mentions come from the text as it was typed.
// source: the Bot API's MessageEntity; openclaw/openclaw, message-media.references.test.ts
func TestMarked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fields, text, addressed string }{
		"link in a forward": {`"text":"Read the article about the new chip","forward_origin":{"type":"hidden_user","date":1,"sender_user_name":"X"},"entities":[{"type":"text_link","offset":9,"length":7,"url":"https://example.com/post?id=42"}]`,
			"Read the [article](https://example.com/post?id=42) about the new chip", ""},
		"link in a caption":      {`"caption":"here","photo":[{"file_id":"p","width":1,"height":1}],"caption_entities":[{"type":"text_link","offset":0,"length":4,"url":"https://example.com/a b(c)"}]`, "[here](https://example.com/a%20b%28c%29)", ""},
		"link that says itself":  {`"text":"example.com/","entities":[{"type":"text_link","offset":0,"length":12,"url":"https://example.com/"}]`, "example.com/", ""},
		"link with another face": {`"text":"https://bank.example","entities":[{"type":"text_link","offset":0,"length":20,"url":"https://evil.example/"}]`, "[https://bank.example](https://evil.example/)", ""},
		"code":                   {`"text":"why does this fail\nfor i in range(3)\n  print(i)","entities":[{"type":"pre","offset":19,"length":28,"language":"python"}]`, "why does this fail\n```python\nfor i in range(3)\n  print(i)\n```", ""},
		"code in a line":         {`"text":"run ls -l now","entities":[{"type":"code","offset":4,"length":5}]`, "run `ls -l` now", ""},
		"code with ticks":        {`"text":"a ` + "`b` c" + `","entities":[{"type":"code","offset":2,"length":3}]`, "a `` `b` `` c", ""},
		"code after words":       {`"text":"see x := 1 there","entities":[{"type":"pre","offset":4,"length":6}]`, "see \n```\nx := 1\n```\n there", ""},
		"ticks in a block":       {`"text":"` + "```" + `","entities":[{"type":"pre","offset":0,"length":3}]`, "````\n```\n````", ""},
		"quotation":              {`"text":"😀a\nb\nmine","entities":[{"type":"expandable_blockquote","offset":0,"length":5}]`, "> 😀a\n> b\nmine", ""},
		"link in a quotation":    {`"text":"a\nb","entities":[{"type":"blockquote","offset":0,"length":3},{"type":"text_link","offset":2,"length":1,"url":"https://b.example"}]`, "> a\n> [b](https://b.example)", ""},
		"bold says nothing":      {`"text":"a b","entities":[{"type":"bold","offset":0,"length":1},{"type":"underline","offset":2,"length":1}]`, "a b", ""},
		"bold link":              {`"text":"a b","entities":[{"type":"text_link","offset":0,"length":3,"url":"https://x.example"},{"type":"bold","offset":0,"length":3}]`, "[a b](https://x.example)", ""},
		"over each other":        {`"text":"abcd","entities":[{"type":"strikethrough","offset":0,"length":3},{"type":"spoiler","offset":1,"length":3}]`, "~~abc~~||d||", ""},
		"mention and link":       {`"text":"@parley_bot see this","entities":[{"type":"mention","offset":0,"length":11},{"type":"text_link","offset":16,"length":4,"url":"https://x.example"}]`, "@parley_bot see [this](https://x.example)", "see [this](https://x.example)"},
		"mention in a link":      {`"text":"ask @parley_bot now","entities":[{"type":"mention","offset":4,"length":11},{"type":"text_link","offset":4,"length":15,"url":"https://x.example"}]`, "ask [@parley_bot now](https://x.example)", "ask [now](https://x.example)"},
		"command with a link":    {`"text":"/ask this","entities":[{"type":"bot_command","offset":0,"length":4},{"type":"text_link","offset":5,"length":4,"url":"https://x.example"}]`, "/ask [this](https://x.example)", ""},
		"command in code":        {`"text":"/stop","entities":[{"type":"code","offset":0,"length":5}]`, "/stop", ""},
		"outside of the text":    {`"text":"x","entities":[{"type":"pre","offset":5,"length":3},{"type":"pre","offset":-1,"length":3},{"type":"pre","offset":0,"length":-3}]`, "x", ""},
		"over the text's end":    {`"text":"to x","entities":[{"type":"text_link","offset":3,"length":9007199254740991,"url":"https://x.example"}]`, "to [x](https://x.example)", ""},
		"links over each other":  {`"text":"abcdefgh","entities":[{"type":"text_link","offset":0,"length":5,"url":"https://a.example"},{"type":"text_link","offset":3,"length":5,"url":"https://c.example"}]`, "[abcde](https://a.example)[fgh](https://c.example)", ""},
		"link out of code":       {`"text":"abcdefgh","entities":[{"type":"code","offset":0,"length":5},{"type":"text_link","offset":3,"length":5,"url":"https://c.example"}]`, "`abcde`[fgh](https://c.example)", ""},
		"half of a character":    {`"text":"😀😀 x","entities":[{"type":"text_link","offset":1,"length":2,"url":"https://a.example"}]`, "[😀😀](https://a.example) x", ""},
		"half at the end":        {`"text":"x 😀","entities":[{"type":"text_link","offset":0,"length":3,"url":"https://a.example"}]`, "[x 😀](https://a.example)", ""},
		"preview of another":     {`"text":"look","link_preview_options":{"url":"https://example.com/p"}`, "look\n[preview: https://example.com/p]", ""},
		"preview of its link":    {`"text":"look https://example.com/p","link_preview_options":{"url":"https://example.com/p"}`, "look https://example.com/p", ""},
	} {
		in := decodeMessage(t, c.fields).in
		if in.Event != channels.Message || in.Text != c.text || in.Addressed != c.addressed {
			t.Errorf("%s: %s %q %q, want %q %q", name, in.Event, in.Text, in.Addressed, c.text, c.addressed)
		}
	}
}

// Whatever the entities are, every letter of the text is there, in order.
func FuzzMarked(f *testing.F) {
	f.Add("why does 😀 this fail", "text_link", 2, 9, "pre", 4, 3)
	f.Add("a\nb\nc", "blockquote", 0, 3, "code", 2, 1)
	f.Fuzz(func(t *testing.T, text, one string, offset, length int, two string, from, units int) {
		if !utf8.ValidString(text) {
			t.Skip("JSON has none")
		}
		out := marked(text, []wireEntity{{Type: one, Offset: quantity(offset), Length: quantity(length), URL: "u", Time: 1}, {Type: two, Offset: quantity(from), Length: quantity(units), URL: "v"}}, nil)
		for _, r := range text {
			at := strings.IndexRune(out, r)
			if at < 0 {
				t.Fatalf("%q lost a letter of %q", out, text)
			}
			out = out[at+len(string(r)):]
		}
	})
}
