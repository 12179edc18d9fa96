package endpoints

// emptyThinking writes thinking without a word of it: the signature alone.
func emptyThinking(_ *Call, p *Piece) {
	if d, ok := p.Data["delta"].(obj); ok && str(d["type"]) == "thinking_delta" {
		d["thinking"] = ""
	}
}

// emptyRefused is a row of Anthropic's messages whose server thinks without words, and refuses such blocks when they come back.
func emptyRefused(id, vendor, source, does string, no func(message, block int) *Refusal) Row {
	row := blockRefused(id, vendor, source, does, false, no)
	row.Lax, row.Wire = true, MessagesWire{Edit: emptyThinking}.Wire()
	return row
}

// thoughtPlaces are endpoints whose refusal names the place of reasoning in the history, whatever else it says.
var thoughtPlaces = []Row{
	emptyRefused("bedrock-each-thinking-block-must-contain", "LiteLLM before Bedrock", "BerriAI/litellm#38809", "thinks with a signature and no word, and refuses such a block", func(i, n int) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content.%d.thinking: each thinking block must contain thinking", i, n)
	}),
	emptyRefused("gateway-thinking-field-required", "a gateway of Claude", "https://docs.pydantic.dev/latest/errors/validation_errors/#missing", "thinks with a signature and no word, and takes the empty text for none", func(i, n int) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content.%d.thinking: Field required", i, n)
	}),
	blockRefused("relay-signature-field-required", "a relay of Claude", "earendil-works/pi#2063", "thinks without a signature, and names the field in the block, not its type", true, func(i, n int) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content.%d.signature: Field required", i, n)
	}),
	blockRefused("relay-thinking-is-missing-its-signature", "a relay of Claude", "can1357/oh-my-pi#333", "thinks without a signature, and says that one is missing", true, func(i, n int) *Refusal {
		return claude(400, "invalid_request_error", "messages.%d.content.%d: thinking block is missing `signature`", i, n)
	}),
}
