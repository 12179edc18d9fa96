package api

import (
	"time"

	"parley/gateway/models"
	"parley/sessions"
)

// Model is one row of models.list. Prices are dollars for a million tokens.
type Model struct {
	Name    string `json:"name"` // provider/model
	Default bool   `json:"default,omitempty"`
	Window  int    `json:"window,omitempty"`
	Images  bool   `json:"images,omitempty"`
	Trouble string `json:"trouble,omitempty"` // why it is left alone at the moment

	Tools      bool              `json:"tools"`
	Levels     []string          `json:"levels,omitzero"` // efforts that it takes; [] = it does not think; left out = not known
	Input      float64           `json:"input,omitempty"`
	Output     float64           `json:"output,omitempty"`
	CacheRead  float64           `json:"cacheRead,omitempty"`
	CacheWrite float64           `json:"cacheWrite,omitempty"`
	From       models.Origins    `json:"from"`              // where each fact is from
	Address    string            `json:"address,omitempty"` // of its server; "" = the provider's own
	Program    string            `json:"program,omitempty"` // that serves it, where that is known
	Asked      time.Time         `json:"asked,omitzero"`    // when its server was asked
	Notes      []models.Note     `json:"notes,omitempty"`   // what may surprise
	Lessons    []sessions.Lesson `json:"lessons,omitempty"` // what its endpoint was seen to refuse
}

// ForgetCall names what is forgotten; empty fields stand for all.
type ForgetCall struct {
	Provider string `json:"provider,omitempty" jsonschema:"id of the provider, as in the configuration"`
	Model    string `json:"model,omitempty" jsonschema:"the provider's name of the model"`
}

// Forgotten says how many lessons were forgotten.
type Forgotten struct {
	Lessons int `json:"lessons"`
}

// ModelTest names the model that is tested.
type ModelTest struct {
	Model string `json:"model,omitempty" jsonschema:"provider/model; default: the default agent's model"`
}
