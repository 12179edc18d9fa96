package openai

import (
	"bytes"
	"encoding/json"
)

// usageIn gives what an event counts in any place; nil = nothing.
func usageIn(data []byte) *usage {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil { // it was read before
		return nil
	}
	return usageBelow(v)
}

func usageBelow(v any) *usage {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if u := usageBelow(x); u != nil {
				return u
			}
		}
	case map[string]any:
		if v["completion_tokens"] != nil {
			return oddUsage(v)
		}
		for _, x := range v {
			if u := usageBelow(x); u != nil {
				return u
			}
		}
	}
	return nil
}

func oddUsage(v any) *usage {
	if list, _ := v.([]any); len(list) > 0 {
		v = list[0]
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	u := &usage{Total: number(m["total_tokens"]), CacheRead: number(m["cache_read_input_tokens"]), CacheWrite: number(m["cache_creation_input_tokens"]),
		Prompt: number(m["prompt_tokens"]), Completion: number(m["completion_tokens"]), CacheHit: number(m["prompt_cache_hit_tokens"]),
		Cached: number(m["cached_tokens"]), Input: number(m["input_tokens"]), Output: number(m["output_tokens"])}
	if d, ok := m["prompt_tokens_details"].(map[string]any); ok {
		u.Details.Cached = number(d["cached_tokens"])
	}
	return u
}
