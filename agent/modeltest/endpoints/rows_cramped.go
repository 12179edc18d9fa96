package endpoints

// cramped has the usual model at the end of its window: the first answer to hello ends at its length limit before it has begun.
func cramped(say Say) Mind {
	return func(c *Call) Say {
		if c.Asked() == "hello" && c.memory.times("cramped") == 0 {
			return say
		}
		return Usual(c)
	}
}

// alwaysCramped never has room for an answer.
func alwaysCramped(*Call) Say { return Say{Finish: "length", Used: 8192} }

// lengthWords are what people see of an endpoint that never has room for an answer.
const lengthWords = `^The language model reached its length limit before it wrote an answer\.`

// atLength ends Responses without output as incomplete.
func atLength(_ *Call, response obj) {
	if items, _ := response["output"].([]obj); len(items) == 0 {
		response["status"], response["incomplete_details"] = "incomplete", obj{"reason": "max_output_tokens"}
		response["usage"] = obj{"input_tokens": 16384, "output_tokens": 0, "total_tokens": 16384}
	}
}

// crampedRows are endpoints whose window is full, and that only say that the answer reached its length.
var crampedRows = []Row{
	{ID: "length-without-a-word", Vendor: "Ollama", Source: "can1357/oh-my-pi#2774", Does: "ends the first answer at its length limit without a word, as the prompt fills the window", Wire: ChatWire{}.Wire(), Mind: cramped(Say{Finish: "length", Used: 8192})},
	{ID: "length-without-usage", Vendor: "vLLM", Source: "vllm-project/vllm#1289", Does: "the same, and counts no tokens", Wire: ChatWire{NoUsage: true}.Wire(), Mind: cramped(Say{Finish: "length"})},
	{ID: "length-after-a-thought", Vendor: "vLLM", Source: "vllm-project/vllm#52640", Does: "the same after two words of reasoning", Wire: ChatWire{Reasoning: "reasoning_content"}.Wire(), Mind: cramped(Say{Finish: "length", Reasoning: "I need", Used: 16380})},
	{ID: "length-after-one-token", Vendor: "Ollama", Source: "can1357/oh-my-pi#2774", Does: "ends the first answer after one letter, with as many tokens as its window has", Wire: ChatWire{}.Wire(), Mind: cramped(Say{Finish: "length", Text: "A", Used: 16382})},
	{ID: "length-in-a-whole-answer", Vendor: "llama.cpp", Source: "ggml-org/llama.cpp#3008", Does: "answers in one piece, the first time at its length limit without a word", Wire: ChatWire{Whole: true}.Wire(), Mind: cramped(Say{Finish: "length", Used: 16384})},
	{ID: "responses-length-without-a-word", API: Responses, Vendor: "vLLM", Source: "vllm-project/vllm#24184", Does: "ends the first answer as incomplete without a word", Wire: ResponsesWire{Status: atLength}.Wire(), Mind: cramped(Say{})},
	{ID: "messages-length-without-a-word", API: Messages, Vendor: "llama.cpp", Source: "https://docs.anthropic.com/en/api/handling-stop-reasons", Does: "ends the first answer with max_tokens without a word", Wire: MessagesWire{}.Wire(), Mind: cramped(Say{Finish: "max_tokens"})},
	{ID: "never-room-for-an-answer", Vendor: "Ollama", Source: "can1357/oh-my-pi#2774", Does: "ends each answer at its length limit without a word", Wire: ChatWire{}.Wire(), Mind: alwaysCramped, Want: dies(lengthWords)},
}
