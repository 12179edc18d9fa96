package sessions

import (
	"context"
	"time"
)

// Lesson is one thing that a model's endpoint was seen to refuse, and what it is sent instead. Provider, Address, Model, Kind, Name
// and Value are its key.
type Lesson struct {
	Provider string    `json:"provider"` // as the configuration names it
	Address  string    `json:"address"`  // base URL without user, password and query
	Model    string    `json:"model"`    // the provider's own name
	Kind     string    `json:"kind"`     // parameter, images, tools, …: package agent/lessons has the list
	Name     string    `json:"name,omitempty"`
	Value    string    `json:"value,omitempty"`    // the refused value; empty = any
	Use      string    `json:"use,omitempty"`      // what is sent instead; empty = nothing
	Evidence string    `json:"evidence,omitempty"` // the provider's words, on one line, without secrets
	Config   string    `json:"config,omitempty"`   // fingerprint of the settings and of the server's model list that it holds for
	At       time.Time `json:"at"`                 // when the refusal was last seen
}

// Lessons are the store's records of what models' endpoints refuse.
type Lessons interface {
	// Lessons lists all, oldest first.
	Lessons(ctx context.Context) ([]Lesson, error)
	// Learn keeps lessons; one with the same key is replaced. The oldest go when there are more than MaxLessons.
	Learn(ctx context.Context, lessons ...Lesson) error
	// Unlearn removes lessons by their keys, unless they were learned again after the At given. Repeating it does nothing more.
	Unlearn(ctx context.Context, lessons ...Lesson) error
	// Forget removes the lessons of a provider and a model, "" = any, and says how many there were.
	Forget(ctx context.Context, provider, model string) (int, error)
}

// MaxLessons bounds how many lessons are kept, in the store and in memory: the oldest go first in both.
const MaxLessons = 2000
