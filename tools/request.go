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

// FitRequest returns the tools as a request to a model holds them that takes so many, at most MaxInRequest; 0 = MaxInRequest. Where there are too
// many, those of Share stay, and two tools are put behind them that find the others and call them: find_tool and call_tool. The same tools in the
// same order give the same request.
func FitRequest(all []Tool, most int) []Tool {
	if most <= 0 || most > MaxInRequest {
		most = MaxInRequest
	}
	if len(all) <= most {
		return all
	}
	if most <= len(ReservedNames) { // there is no room for both
		shown, _ := Share(all, most)
		return shown
	}
	shown, others := Share(all, most-len(ReservedNames))
	rest := newCatalogue(others)
	return append(shown, findTool{rest}, callTool{rest})
}

// Share splits tools into those that have a place, at most so many, and the others: the host's own tools come first, and no server has
// more places than another one that could use them. Both keep their order.
func Share(all []Tool, places int) (shown, others []Tool) {
	if len(all) <= places {
		return all, nil
	}
	var servers []string
	waiting, share := map[string]int{}, map[string]int{}
	for _, t := range all {
		name := t.Spec().Server
		if waiting[name]++; waiting[name] == 1 && name != "" {
			servers = append(servers, name)
		}
	}
	share[""] = min(waiting[""], max(places, 0))
	for left := places - share[""]; left > 0; {
		for _, name := range servers {
			if share[name] < waiting[name] && left > 0 {
				share[name]++
				left--
			}
		}
	}
	for _, t := range all {
		if name := t.Spec().Server; share[name] > 0 {
			share[name]--
			shown = append(shown, t)
		} else {
			others = append(others, t)
		}
	}
	return shown, others
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
