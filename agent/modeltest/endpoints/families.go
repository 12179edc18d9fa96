package endpoints

// families are the groups of the table, in its order.
func families() []family {
	return []family{
		{"Endpoints that keep to the documents", works},
		{"Reasoning that comes back", reasoning},
		{"Tools refused", toolsRefused},
		{"Pictures refused", imagesRefused},
		{"Parameters, roles and settings", parameters},
		{"Efforts of thinking refused", effortRefused},
		{"Reasoning and calls as markup in the text", markups},
		{"Other JSON types", types},
		{"Packaging of answers", packaging},
		{"Tool calls, ids and the order of roles", callForms},
		{"Schemas and number of tools", schemas},
		{"Classes of failures", classes},
		{"Failures that a repeat cures", retries},
		{"OpenAI's Responses API", responses},
		{"Anthropic's messages", anthropic},
		{"Length of prompts and answers", limits},
		{"Ollama found on this machine", ollamaFacts},
		{"Refusals of 2026", refused2026},
		{"Answers and failures of 2026", answers2026},
		{"More of 2026", more2026},
		{"Servers in 2026", servers2026},
		{"Vendors in 2026", vendors2026},
		{"Hosts in 2026", hosts2026},
		{"Late in 2026", late2026},
		{"Refused histories", refusedHistories},
		{"Parts that a refusal names", namedParts},
		{"Signatures, classes and addresses", wrongWords},
		{"Ends of lines, characters and answers", endings},
		{"What a request says", content},
		{"Thoughts and calls without a parser", textCalls},
		{"One thing that is refused", oneThing},
		{"Room for an answer", rooms},
	}
}
