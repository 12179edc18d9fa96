package tools

// MaxInRequest is how many tools a request to a model holds: OpenAI and Gemini refuse the whole request when there are more.
const MaxInRequest = 128

// ReservedNames are those of the tools that stand for the ones that a request has no room for. No other tool has them.
var ReservedNames = []string{"find_tool", "call_tool"}

// ShownInRequest returns how many of n tools a request holds; the others are behind find_tool and call_tool, which take two places.
func ShownInRequest(n int) int {
	if n <= MaxInRequest {
		return n
	}
	return MaxInRequest - 2
}

// FitRequest returns the tools as a request holds them. Where there are too many, the first ones stay as they are, and two tools are put
// behind them that find the others and call them: find_tool and call_tool. The same tools in the same order give the same request.
func FitRequest(all []Tool) []Tool {
	n := ShownInRequest(len(all))
	if n == len(all) {
		return all
	}
	rest := newCatalogue(all[n:])
	return append(all[:n:n], findTool{rest}, callTool{rest})
}

// catalogue holds the tools that a request has no room for.
type catalogue struct {
	tools  []Tool
	byName map[string]Tool
}

func newCatalogue(all []Tool) *catalogue {
	c := &catalogue{tools: all, byName: make(map[string]Tool, len(all))}
	for _, t := range all {
		c.byName[t.Spec().Name] = t
	}
	return c
}
