package endpoints

// Spare is the second provider, which answers when a row's endpoint cannot: it takes chat completions as strictly as any, and knows
// nothing of what other providers add to them.
func Spare() Row {
	return Row{
		ID: "spare", API: Chat, Vendor: "spare", Model: "spare-1", Checks: []Check{noExtraFields},
		Mind: func(c *Call) Say {
			s := plainly(c)
			if s.Text != "" {
				s.Text = "spare: " + s.Text
			}
			return s
		},
		Wire: ChatWire{ID: func(made int) string { return "call_spare-" + string(rune('a'+made%26)) }}.Wire(),
	}.filled()
}
