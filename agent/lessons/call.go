package lessons

import (
	"context"
	"slices"

	"parley/sessions"
	"parley/tools"
)

// Sent is what a request consists of, as far as an endpoint may refuse it. Nothing else is ever changed.
type Sent struct {
	Params     []Param
	Tools      []string // names, in the order sent
	Pictures   []string // base64, in the order sent; of messages of people
	ToolImages bool     // there are pictures in the results of tools
	System     bool
	Stream     bool
	Reasoning  bool     // of earlier steps, signatures of it, or ids of messages
	OnlyIDs    bool     // Reasoning is ids of messages alone
	Thoughts   []string // names of the fields that it went back in; nil = those of its API
	ThoughtAt  []Place  // where it is
	Steps      bool     // there are tool calls in the history
	Items      []Item
	Roles      []string // of the messages or items, in the order sent: user, assistant, system, tool, or Blocks
	ToolForms  []string // ToolsTyped or ToolsNested, where definitions can be written so
	Loose      bool     // schemas have other keywords than the plainest

	Extras       []string // settings that it follows besides Params, as Extras gives them
	Instructions string   // the system text
	Messages     []sessions.Message
}

// Place is where reasoning of earlier steps is in a request: a message's field or block, or an item.
type Place struct {
	Message int    // or item, by its number
	Field   string // of the message; empty = the block, or the whole item
	Block   int    // of the message's content, by its number
}

// Item is a part of the history that its provider wants back as it came, and that it may be unable to read later.
type Item struct {
	ID     string // the provider's own; may be empty
	Sealed string // encrypted content; may be empty
}

// name tells items apart in lessons.
func (i Item) name() string {
	if i.ID != "" && len(i.ID) <= maxItemName {
		return i.ID
	}
	return Hash(i.ID + i.Sealed)
}

// maxItemName bounds an id that is the name of a lesson, in bytes. Longer ones are hashed.
const maxItemName = 64

// Param is an optional parameter of a request.
type Param struct {
	Name   string   // as it stands in the request, dots for nested ones: reasoning.effort
	Words  []string // other names that errors use for it
	Value  string   // what was sent; Unset = it was not, but an error may ask for it
	Next   []string // other values, best first
	Named  []string // other values that are sent only where an error names them
	Effort bool     // it says how much to think: it is left out first when an error is unclear
	Fixed  bool     // it is left out only when an error names it, or when nothing else helped and it is a Setting
	// Setting is the key of the user's configuration that the value follows: temperature, body.seed; empty = none.
	Setting string
	Varies  bool // each conversation has its own value: what is learned of one holds for all
}

// refused is the lesson that use is sent in the place of a parameter's value; "" = nothing.
func (p Param) refused(use string) sessions.Lesson {
	if p.Varies {
		return sessions.Lesson{Kind: Parameter, Name: p.Name}
	}
	return sessions.Lesson{Kind: Parameter, Name: p.Name, Value: p.Value, Use: use}
}

// Call is one model call in the making.
type Call struct {
	inForce

	book    *Book
	at      Endpoint
	config  string
	changed changes
	guessed bool            // something was changed although nothing was understood
	failed  map[string]int  // how often the same words told of a failure in this call
	seen    map[string]bool // words of refusals that may pass, after which the request was made again as it was

	fuller    []sessions.Lesson // in force, under a fingerprint that says more than when they were learned
	quiet     bool              // an unclear refusal ends the call: changes did not help in the calls before
	images    bool              // pictures are left out of this call
	bare      bool              // the history is told as text in this call
	taken     parts             // by the endpoint, in earlier calls
	sends     parts             // in the request at hand
	values    [6]paramValue     // room for sends.params
	left      []string          // settings of the user that are left out since this call
	vain      []string          // those that calls were made without, in vain
	settings  map[string]string // "on" or "off", by kind: these win over what is learned
	most      int               // tokens of an answer in this call, as an error said; 0 = no error did
	credit    int               // tokens of an answer that the credit was enough for a while ago; 0 = not known
	estimated func() int        // tokens of the prompt; nil = not known
	isCounted bool              // the provider counted the tokens of an earlier answer, which the estimate goes by

	longest int          // bytes of the longest description of a tool in it
	offered []tools.Spec // the tools in it
}

// Param says what to send for a parameter that would have a value, or Unset: use is sent when send is true.
func (c *Call) Param(name, value string) (use string, send bool) {
	use, send = c.param(name, value)
	if slices.Contains(limits, name) {
		use, send = c.withinRoom(name, use, send)
	}
	c.sends.noteParam(name, use, send)
	return use, send
}

// KnowsNothing reports whether nothing is known of the endpoint: everything is sent as it would be.
func (c *Call) KnowsNothing() bool { return c.isEmpty() }

// Off reports whether something is left out: Images (name is a picture's Hash, "" = all), Tools, Tool (by name), System, Stream,
// ToolImages; and for Schema and CallIDs whether they are to be plain.
func (c *Call) Off(kind, name string) bool {
	if kind == Images && (c.images || c.bare) {
		return true
	}
	if c.isEmpty() {
		return false
	}
	_, ok := c.find(key{kind, name, ""})
	return ok
}

// Takes reports whether something is sent for which there is a setting, "on", "off" or "": the setting wins over what was learned.
func (c *Call) Takes(kind, setting string) bool {
	if setting == "on" || setting == "off" {
		c.insists(kind, setting)
	}
	off := c.Off
	if kind == Tools {
		off = c.isOff // Offer knows whether there are tools at all
	}
	takes := !(kind == Images && (c.images || c.bare)) && (setting == "on" || setting != "off" && !off(kind, ""))
	switch kind {
	case Stream:
		c.sends.stream = takes
	case System:
		c.sends.system = takes
	case Tools:
		c.sends.tools, c.sends.offered = false, 0 // until they are offered
	}
	return takes
}

// Picture gives which pictures of a transcript may be shown, for agent.Target: nil = each. setting is that of images: "on", "off" or "".
func (c *Call) Picture(setting string, msgs []sessions.Message) func(sessions.Block) bool {
	c.sends.images = false
	if !hasPicture(msgs) {
		if setting == "on" || setting == "off" {
			c.insists(Images, setting)
		}
		return nil
	}
	show := c.picture(setting, msgs)
	return func(b sessions.Block) bool {
		shown := show == nil || show(b)
		c.sends.images = c.sends.images || shown
		return shown
	}
}

func hasPicture(msgs []sessions.Message) bool {
	for i := range msgs {
		for j := range msgs[i].Content {
			if msgs[i].Content[j].Type == sessions.ImageBlock {
				return true
			}
		}
	}
	return false
}

// minRefusedPictures is how many pictures are refused before an endpoint that took none counts as one without pictures.
const minRefusedPictures = 3

// takesNoPicture reports whether so many pictures were refused, and none was taken since the host began.
func (c *Call) takesNoPicture() bool {
	refused := 0
	for k := range c.now {
		if k.kind == Images && k.name != "" {
			refused++
		}
	}
	return refused >= minRefusedPictures && !c.taken.images
}

func (c *Call) picture(setting string, msgs []sessions.Message) func(sessions.Block) bool {
	if !c.Takes(Images, setting) {
		return func(sessions.Block) bool { return false }
	}
	if most := c.countOf(MaxImages); most > 0 {
		newest := make(map[string]bool)
		for _, m := range slices.Backward(msgs) {
			for _, b := range slices.Backward(m.Content) {
				if h := Hash(b.Data); b.Type == sessions.ImageBlock && len(newest) < most && !c.Off(Images, h) {
					newest[h] = true
				}
			}
		}
		return func(b sessions.Block) bool { return newest[Hash(b.Data)] }
	}
	if c.singlePictures() {
		return func(b sessions.Block) bool { return !c.Off(Images, Hash(b.Data)) }
	}
	return nil
}

// Offer gives those of the tools that the endpoint takes, in their order. specs stays as it is.
func (c *Call) Offer(specs []tools.Spec) []tools.Spec {
	if len(specs) == 0 {
		c.sends.tools, c.sends.offered, c.offered, c.longest = false, 0, nil, 0
		return specs
	}
	c.Off(Tools, "") // with tools to offer, a request without that lesson is one that tries it
	refused := func(t tools.Spec) bool { return c.Off(Tool, t.Name) }
	if slices.ContainsFunc(specs, refused) {
		specs = slices.DeleteFunc(slices.Clone(specs), refused)
	}
	if c.mayCut(MaxTools, len(specs)) {
		if most := c.MaxTools(); most > 0 {
			specs = specs[:min(most, len(specs))]
		}
	}
	specs = c.shorten(specs)
	c.sends.tools, c.sends.offered, c.offered = len(specs) > 0, hashOf(specs), specs
	return specs
}

// OffItem reports whether an item of the history is left out.
func (c *Call) OffItem(i Item) bool {
	return (i.ID != "" || i.Sealed != "") && c.Off(Reasoning, i.name())
}

// Told reports whether all calls and results of the history are told as text.
func (c *Call) Told() bool {
	roles := c.Use(Roles)
	return c.bare || roles == Alternate || roles == UserOnly || c.Use(History) == ToldHistory
}

// Bare reports whether the history is told as plain text: no pictures, no calls, no reasoning. The last resort of a call.
func (c *Call) Bare() bool { return c.bare }

// Worked says that the request was taken: what was changed is remembered. What no refusal had named is so only when it was the same in an
// earlier call.
func (c *Call) Worked(ctx context.Context) {
	c.book.take(c.at, c.sends)
	c.changed.ofAllTools()
	c.tellLeft(ctx)
	var wrong []key
	if len(c.stale) > 0 && len(c.tried) > 0 {
		for _, k := range c.tried {
			if _, again := c.now[k]; !again {
				wrong = append(wrong, k)
			}
		}
	}
	if len(c.fuller) > 0 {
		c.book.refresh(ctx, c.fuller)
		c.fuller = nil
	}
	switch again := c.changed.again(c.suspects); {
	case len(again) > 0:
		c.changed.pending = append(c.changed.pending, again...)
		rest := c.changed.blind // is looked at in the next call
		rest.changes = slices.DeleteFunc(slices.Clone(rest.changes), func(l sessions.Lesson) bool {
			return slices.ContainsFunc(again, func(a sessions.Lesson) bool { return keyOf(a) == keyOf(l) })
		})
		c.book.suspect(c.at, rest)
	case len(c.changed.blind.changes) > 0:
		c.book.suspect(c.at, c.changed.blind)
	case len(c.spared) > 0 && c.changed.said == "": // taken without those changes
		c.book.suspect(c.at, suspects{})
	}
	if len(c.changed.pending) > 0 || len(wrong) > 0 {
		c.book.keep(ctx, c.at, c.config, c.changed.pending, wrong)
	}
	c.changed.pending, c.tried, c.changed.helped, c.changed.blind, c.suspects, c.spared = nil, nil, nil, suspects{}, suspects{}, nil
}
