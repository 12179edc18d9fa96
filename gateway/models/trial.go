package models

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"slices"
	"strings"
	"time"

	"parley/agent"
	"parley/sessions"
	"parley/tools"
)

// TurnTimeout bounds each turn of a test.
const TurnTimeout = 2 * time.Minute

// Trial is the result of a test of a model's real endpoint.
type Trial struct {
	Model string      `json:"model"` // provider/model
	OK    bool        `json:"ok"`    // the plain turn works
	Turns []TrialTurn `json:"turns"`
	Cost  int64       `json:"cost"` // millionths of a dollar, 0 where no price is known
}

// TrialTurn is one turn of a test.
type TrialTurn struct {
	Turn    string            `json:"turn"` // plain, tool, image, thinking
	OK      bool              `json:"ok"`
	Skipped bool              `json:"skipped,omitempty"` // a setting says that the model has no such thing
	What    string            `json:"what"`              // what was seen, or why it failed
	Class   agent.ErrorClass  `json:"class,omitempty"`
	Said    string            `json:"said,omitempty"` // the provider's words
	Millis  int64             `json:"millis"`
	Usage   sessions.Usage    `json:"usage"`
	Learned []sessions.Lesson `json:"learned,omitempty"` // by this turn
}

// Lessons lists what the host has learned about its models' endpoints.
type Lessons interface {
	// Known lists all lessons.
	Known() []sessions.Lesson
}

// trial is a test under way.
type trial struct {
	c       agent.Candidate
	lessons Lessons
}

// Test has a model answer a plain, a tool, an image and a thinking turn, one after another, and says what it takes. It makes real calls
// that cost what they cost, some hundred tokens each. lessons may be nil. It is over when ctx ends.
func Test(ctx context.Context, c agent.Candidate, lessons Lessons) Trial {
	t := trial{c, lessons}
	x := Trial{Model: c.Label}
	for _, turn := range []struct {
		name, off string
		do        func(context.Context, *TrialTurn) error
	}{
		{"plain", "", t.plain},
		{"tool", t.off("tools"), t.tool},
		{"image", t.off("images"), t.image},
		{"thinking", t.off("thinking"), t.thinking},
	} {
		r := TrialTurn{Turn: turn.name}
		switch {
		case turn.off != "":
			r.Skipped, r.What = true, turn.off
		case turn.name != "plain" && !x.OK:
			r.Skipped, r.What = true, "the plain turn failed"
		default:
			t.run(ctx, &r, turn.do)
		}
		x.OK = x.OK || turn.name == "plain" && r.OK
		x.Cost += r.Usage.Cost
		x.Turns = append(x.Turns, r)
	}
	return x
}

// off names the setting that switches something off; "" = none does.
func (t trial) off(what string) string {
	f := t.c.Facts
	switch {
	case what == "tools" && f.ModelSettings.Tools == "off":
		return "tools: off"
	case what == "images" && (f.Images == "off" || f.NoImages && f.Images != "on"):
		return "the configuration (noImages or images: off), the server or the catalogue says that the model accepts none"
	case what == "thinking" && f.Levels != nil && len(f.Levels) == 0:
		return "the configuration (reasoning.levels: []), the server or the catalogue says that the model accepts none"
	}
	return ""
}

// run makes one turn, with its time, its price and what it taught.
func (t trial) run(ctx context.Context, r *TrialTurn, do func(context.Context, *TrialTurn) error) {
	ctx, cancel := context.WithTimeout(ctx, TurnTimeout)
	defer cancel()
	before := t.known()
	began := time.Now()
	err := do(ctx, r)
	r.Millis = time.Since(began).Milliseconds()
	r.Usage.Cost = t.c.Facts.Cost(r.Usage)
	for _, l := range t.known() {
		if !slices.Contains(before, l) {
			r.Learned = append(r.Learned, l)
		}
	}
	if err == nil {
		r.OK = true
		return
	}
	r.What = err.Error()
	if e, ok := errors.AsType[*agent.ModelError](err); ok {
		r.Class, r.Said = e.Class, e.Said
		if r.Said == "" && e.Err != nil {
			r.Said = strings.Join(strings.Fields(e.Err.Error()), " ")
		}
	}
	if ctx.Err() != nil {
		r.What = fmt.Sprintf("no answer within %s", TurnTimeout)
	}
}

func (t trial) known() []sessions.Lesson {
	if t.lessons == nil {
		return nil
	}
	return t.lessons.Known()
}

// refused gives a lesson of one of the kinds about the model; of parameters only one about how much to think.
func (t trial) refused(kinds ...string) (sessions.Lesson, bool) {
	for _, l := range t.known() {
		effort := l.Value == "low" && (strings.Contains(l.Name, "effort") || strings.Contains(l.Name, "think") || strings.Contains(l.Name, "reasoning"))
		if l.Provider+"/"+l.Model == t.c.Label && slices.Contains(kinds, l.Kind) && (l.Kind != "parameter" || effort) {
			return l, true
		}
	}
	return sessions.Lesson{}, false
}

// ask makes one call.
func (t trial) ask(ctx context.Context, r *TrialTurn, p agent.Prompt) (*agent.Answer, error) {
	p.Model, p.Session = t.c.Name, "parley-models-test"
	p.System = firstWord(p.System, "You are being tested. Answer in one short sentence.")
	if p.Levels == nil {
		p.Levels = t.c.Facts.Levels
	}
	var last *agent.Answer
	for d, err := range t.c.Model.Stream(ctx, p) {
		if err != nil {
			return nil, err
		}
		if d.Final != nil {
			last = d.Final
		}
	}
	if last == nil {
		return nil, &agent.ModelError{Class: agent.Broken, Provider: t.c.Label, Tries: 1, Err: errors.New("the stream ended without an answer")}
	}
	r.Usage.Input, r.Usage.Output = r.Usage.Input+last.Usage.Input, r.Usage.Output+last.Usage.Output
	r.Usage.CacheRead, r.Usage.CacheWrite = r.Usage.CacheRead+last.Usage.CacheRead, r.Usage.CacheWrite+last.Usage.CacheWrite
	return last, nil
}

func firstWord(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func user(blocks ...sessions.Block) sessions.Message {
	return sessions.Message{ID: "1", Role: sessions.User, Content: blocks, Time: time.Now()}
}

func textBlock(s string) sessions.Block { return sessions.Block{Type: sessions.TextBlock, Text: s} }

// textOf gives the text of an answer, on one line, cut.
func textOf(a *agent.Answer) string {
	var b strings.Builder
	for _, c := range a.Content {
		if c.Type == sessions.TextBlock {
			b.WriteString(c.Text + " ")
		}
	}
	s := strings.Join(strings.Fields(b.String()), " ")
	if r := []rune(s); len(r) > 120 {
		s = string(r[:120]) + "…"
	}
	return s
}

func (t trial) plain(ctx context.Context, r *TrialTurn) error {
	a, err := t.ask(ctx, r, agent.Prompt{Messages: []sessions.Message{user(textBlock("Say the word ready."))}})
	if err != nil {
		return err
	}
	if r.What = "it says: " + textOf(a); textOf(a) == "" {
		return errors.New("the answer is empty")
	}
	return nil
}

// tool offers a tool, and sends its result back: what the provider wants to see again of its own call shows only then.
func (t trial) tool(ctx context.Context, r *TrialTurn) error {
	spec := tools.Spec{Name: "house_number", Description: "Returns the number of a house.", Schema: json.RawMessage(`{"type":"object","properties":{"street":{"type":"string"}},"required":["street"],"additionalProperties":false}`)}
	p := agent.Prompt{Tools: []tools.Spec{spec}, Messages: []sessions.Message{user(textBlock("Use the tool house_number for the street Elm, then say the number."))}}
	a, err := t.ask(ctx, r, p)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(a.Content, func(b sessions.Block) bool { return b.Type == sessions.ToolCallBlock })
	if l, ok := t.refused("tools", "tool"); ok && i < 0 {
		return errors.New("the model accepts no tools, so the host sent the question without them: " + l.Evidence)
	}
	if i < 0 {
		r.What = "the model accepts tools, but called none: " + textOf(a)
		return nil
	}
	call := sessions.Message{ID: "2", Role: sessions.Assistant, Content: a.Content, Time: time.Now(), Model: t.c.Label, Stop: a.Stop}
	p.Messages = append(p.Messages, call)
	for n, b := range a.Content {
		if b.Type == sessions.ToolCallBlock {
			p.Messages = append(p.Messages, sessions.Message{ID: fmt.Sprint("r", n), Role: sessions.ToolResult, Content: []sessions.Block{textBlock("4711")}, Time: time.Now(), ToolCallID: b.ID, ToolName: b.Name})
		}
	}
	if a, err = t.ask(ctx, r, p); err != nil {
		return fmt.Errorf("the model called the tool, but refused its result: %w", err)
	}
	r.What = "the model called the tool, and answered: " + textOf(a)
	return nil
}

// picture is a red square.
func picture() string {
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for i := range img.Pix {
		img.Pix[i] = []uint8{220, 20, 20, 255}[i%4]
	}
	var b bytes.Buffer
	_ = png.Encode(&b, image.Image(img)) // of such an image it never fails
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

func (t trial) image(ctx context.Context, r *TrialTurn) error {
	a, err := t.ask(ctx, r, agent.Prompt{Messages: []sessions.Message{user(textBlock("Which colour is this picture? One word."), sessions.Block{Type: sessions.ImageBlock, MIME: "image/png", Data: picture()})}})
	if err != nil {
		return err
	}
	if l, ok := t.refused("images"); ok {
		return errors.New("the model did not accept the image, so the host sent the question without it: " + l.Evidence)
	}
	r.What = "the model accepts images, and describes a red one: " + textOf(a)
	return nil
}

func (t trial) thinking(ctx context.Context, r *TrialTurn) error {
	a, err := t.ask(ctx, r, agent.Prompt{Thinking: "low", Messages: []sessions.Message{user(textBlock("Which is larger, 9.11 or 9.9?"))}})
	if err != nil {
		return err
	}
	if l, ok := t.refused("parameter"); ok && l.Use == "" {
		return errors.New("the model accepts no reasoning effort, so the host sent none: " + l.Evidence)
	} else if ok {
		r.What = "the model does not accept the effort low, so the host sent " + l.Use
		return nil
	}
	thought := slices.ContainsFunc(a.Content, func(b sessions.Block) bool { return b.Type == sessions.ThinkingBlock })
	if r.What = "the model accepts the effort low, and shows no reasoning"; thought {
		r.What = "the model accepts the effort low, and shows its reasoning"
	}
	return nil
}
