package endpoints

import (
	"slices"
	"strings"
)

// value gives a value of the body by its path: reasoning.effort.
func (c *Call) value(path string) (any, bool) {
	var at any = c.Body
	for _, key := range strings.Split(path, ".") {
		o, ok := at.(obj)
		if !ok {
			return nil, false
		}
		if at, ok = o[key]; !ok {
			return nil, false
		}
	}
	return at, true
}

// refuseParam refuses a request that has a parameter.
func refuseParam(path string, no *Refusal) Check {
	return func(c *Call) *Refusal {
		if _, there := c.value(path); there {
			return no
		}
		return nil
	}
}

// eachRefused refuses parameters one at a time, in their order.
func eachRefused(names ...string) (out []Check) {
	for _, name := range names {
		out = append(out, refuseParam(name, vllm(400, "%s: extra fields not permitted", name)))
	}
	return out
}

// wants refuses a request that has not got a parameter.
func wants(path string, no *Refusal) Check {
	return func(c *Call) *Refusal {
		if _, there := c.value(path); !there {
			return no
		}
		return nil
	}
}

// among refuses a value that is none of those allowed.
func among(path string, allowed string, no func(value string) *Refusal) Check {
	return func(c *Call) *Refusal {
		if v, there := c.value(path); there && !slices.Contains(strings.Fields(allowed), str(v)) {
			return no(str(v))
		}
		return nil
	}
}

// pictures counts the pictures of a request, in tool results too.
func (c *Call) pictures() (n int) {
	for _, m := range c.Messages {
		n += m.Images
	}
	return n
}

// blind refuses pictures.
func blind(no *Refusal) Check {
	return func(c *Call) *Refusal {
		if c.pictures() > 0 {
			return no
		}
		return nil
	}
}

// toolless refuses tools.
func toolless(no *Refusal) Check {
	return func(c *Call) *Refusal {
		if c.Has("tools") {
			return no
		}
		return nil
	}
}

// systemless refuses system messages: of the given roles, or any.
func systemless(no *Refusal, roles ...string) Check {
	return func(c *Call) *Refusal {
		for _, m := range objects(c.Body["messages"]) {
			if role := str(m["role"]); slices.Contains(roles, role) || roles == nil && (role == "system" || role == "developer") {
				return no
			}
		}
		return nil
	}
}

// streamless refuses streams.
func streamless(no *Refusal) Check {
	return func(c *Call) *Refusal {
		if c.Body["stream"] == true {
			return no
		}
		return nil
	}
}

// header wants a header with a value.
func header(name, want string, no *Refusal) Check {
	return func(c *Call) *Refusal {
		if c.Header.Get(name) != want {
			return no
		}
		return nil
	}
}

// query wants a query parameter with a value.
func query(name, want string, no *Refusal) Check {
	return func(c *Call) *Refusal {
		if c.Query.Get(name) != want {
			return no
		}
		return nil
	}
}

// onlyWhen applies a check to requests that fit.
func onlyWhen(fits func(*Call) bool, check Check) Check {
	return func(c *Call) *Refusal {
		if fits(c) {
			return check(c)
		}
		return nil
	}
}

// has says whether a request has a parameter.
func has(path string) func(*Call) bool {
	return func(c *Call) bool {
		_, there := c.value(path)
		return there
	}
}

// refusing always refuses.
func refusing(no *Refusal) Check { return func(*Call) *Refusal { return no } }

// refuseText refuses a request in which a person says something, anywhere.
func refuseText(word string, no *Refusal) Check {
	return func(c *Call) *Refusal {
		for _, m := range c.Messages {
			if m.Role == "user" && strings.Contains(m.Text, word) {
				return no
			}
		}
		return nil
	}
}

// keywords refuses tools whose schema has one of these keywords, anywhere.
func keywords(words string, no func(tool int, name, word string, path []string) *Refusal) Check {
	return func(c *Call) *Refusal {
		for i, t := range objects(c.Body["tools"]) {
			f, ok := t["function"].(obj)
			if !ok {
				f = t
			}
			schema, _ := f["parameters"].(obj)
			if schema == nil {
				schema, _ = f["input_schema"].(obj)
			}
			found := ""
			path := walk(schema, nil, func(_ []string, s obj) bool {
				for _, w := range strings.Fields(words) {
					if _, there := s[w]; there {
						found = w
						return true
					}
				}
				return false
			})
			if path != nil {
				return no(i, str(f["name"]), found, path)
			}
		}
		return nil
	}
}
