package models

import (
	"sync"

	"parley/agent"
	"parley/tools"
)

// ownPromptSize estimates what instructions and the host's own tools take of every prompt, in tokens.
var ownPromptSize = sync.OnceValue(func() int {
	const instructions = 1000 // without a workspace's own
	n := instructions
	for _, t := range tools.All(tools.Deps{}) {
		n += agent.SpecTokens(t.Spec())
	}
	return n
})

// PromptSize estimates what instructions, the host's own tools and those of MCP servers take, as far as a request has room for them.
func PromptSize(theirs []tools.Tool) int {
	own := len(tools.All(tools.Deps{}))
	n := ownPromptSize()
	shown, _ := tools.Share(theirs, tools.ShownInRequest(own+len(theirs))-own)
	for _, t := range shown {
		n += agent.SpecTokens(t.Spec())
	}
	return n
}
