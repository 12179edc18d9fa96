package endpoints

// works are endpoints that keep to the documents.
var works = []Row{
	{
		ID: "openai-chat", API: Completions, Vendor: "OpenAI", Source: "https://platform.openai.com/docs/api-reference/chat/create",
		Does: "takes chat completions and answers as documented", Want: Expectation{Image: ImageText},
	},
}
