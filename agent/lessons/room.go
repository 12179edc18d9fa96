package lessons

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"parley/agent"
	"parley/agent/wire"
	"parley/channels/pattern"
)

// minAnswer is the shortest answer that is worth asking for, in tokens, where the prompt leaves room for no longer one.
const minAnswer = 1024

// promptMargin is how much longer a prompt may be than it is estimated, in tokens: templates add to it.
const promptMargin = 256

var (
	// affordable is how long an answer the credit is enough for. source: openrouter.ai/docs/api-reference/errors
	affordable = pattern.New(`can only afford (?:up to |about )?(\d+)|\bafford(?:s|able)?\b[^.\n\d]{0,40}(\d+) (?:output |completion )?tokens|\b(?:credits?|balance)\b[^.\n\d]{0,40}\b(?:enough|sufficient)\b[^.\n\d]{0,20}(\d+) (?:output |completion )?tokens`)
	// roomSum is prompt + answer > window. source: docs.anthropic.com/en/api/errors
	roomSum = pattern.New(`(\d+) ?\+ ?\d+ ?> ?(\d+)`)
	// roomRest is answer > window - prompt. source: github.com/vllm-project/vllm (serving_engine)
	roomRest   = pattern.New(`\d+ ?> ?(\d+) ?- ?(\d+)`)
	windowSize = pattern.New(`(?:maximum context length (?:is|of)|context length is only|must be <=) (\d+)`)
	// promptSize is the prompt alone. source: github.com/vllm-project/vllm, huggingface/text-generation-inference (router/src/validation.rs)
	promptSize  = pattern.New(`\b(\d+) (?:in the messages|input tokens|of text input|[\x60'"]?inputs[\x60'"]? tokens)|\b(?:prompt|messages|input) (?:contains?|has|have|resulted in)(?: at least)? (\d+)`)
	answerAsked = pattern.New(`requested (\d+) output tokens|\b(\d+) in the (?:completion|output)`)
	// ofAnswer is in errors about the length of the answer that was asked for.
	ofAnswer    = pattern.New(`\bmax_?(?:new_?|completion_?|output_?)?tokens\b|\b(?:completion|draft tokens|output tokens|new tokens)\b`)
	ofWindow    = pattern.New(`\bcontext\b|\bmax_(?:seq|model)_len\b|\bprompts?\b|\binputs?\b|\bmessages\b`)
	isSum       = pattern.New(`\+|\bsum\b|\btotal\b|\bplus\b|\bcombined\b`)
	tokensInAll = pattern.New(`total of (?:at least )?(\d+)|requested (?:about )?(\d+) tokens`)
)

// roomOf returns how many tokens an answer may have, and how many the prompt has, as an error says that counts both together; 0 = it does not say.
func roomOf(text string) (room, prompt int) {
	if m := numbersOf(roomSum, text); m != nil {
		return m[1] - m[0], m[0]
	}
	if m := numbersOf(roomRest, text); m != nil {
		return m[0] - m[1], m[1]
	}
	window, prompt := firstNumber(windowSize, text), firstNumber(promptSize, text)
	if answer, all := firstNumber(answerAsked, text), firstNumber(tokensInAll, text); answer > 0 && all > answer {
		prompt = max(prompt, all-answer)
	}
	if window == 0 || prompt == 0 {
		return 0, 0
	}
	return window - prompt, prompt
}

// roomBeside is like roomOf for errors in any words: it finds the length of the prompt and the window among the numbers of a line beside the
// length of the answer that was asked for, and their sum.
//
// source: sgl-project/sglang (tokenizer_manager.py, "Requested token count exceeds"), NVIDIA/TensorRT-LLM ("plus max_tokens"), docs.mistral.ai (3051)
func roomBeside(text string, answer int) (room, prompt int) {
	for line := range strings.SplitSeq(text, "\n") {
		if !ofAnswer.MatchString(line) || !ofWindow.MatchString(line) {
			continue
		}
		sizes := wire.SizesIn(line)
		asked := slices.Index(sizes, answer)
		if asked >= 0 {
			sizes = slices.Delete(sizes, asked, asked+1)
		}
		slices.Sort(sizes)
		sizes = slices.Compact(sizes)
		whole := slices.IndexFunc(sizes, func(n int) bool { return slices.Contains(sizes, n-answer) })
		switch {
		case asked >= 0 && whole >= 0:
			sizes = slices.Delete(sizes, whole, whole+1)
		case asked >= 0 && len(sizes) == 1 && isSum.MatchString(line): // as long as the window
			sizes = []int{sizes[0] - answer, answer}
		case asked < 0 && len(sizes) == 2 && isSum.MatchString(line):
			sizes = []int{sizes[1] - answer, sizes[0]}
		case asked < 0:
			continue
		}
		if len(sizes) == 2 && 0 < sizes[0] && sizes[0] < sizes[1] && sizes[0]+answer > sizes[1] {
			return sizes[1] - sizes[0], sizes[0]
		}
	}
	return 0, 0
}

// counts is how many tokens an endpoint counts for one that is estimated: from the texts alone, and from its own count of an earlier answer.
type counts struct {
	ofTexts, ofCount float64 // 0 = not known
	config           string
}

// countsMore remembers that an endpoint counted more tokens of a prompt than were estimated: later answers are asked for behind prompts of so much
// more. It is not kept over a restart.
func (c *Call) countsMore(prompt int) {
	if c.estimated == nil || prompt == 0 {
		return
	}
	if estimated := c.estimated(); estimated > 0 && prompt > estimated {
		c.book.mu.Lock()
		known := c.book.counts[c.at]
		if known.config = c.config; c.isCounted {
			known.ofCount = float64(prompt) / float64(estimated)
		} else {
			known.ofTexts = float64(prompt) / float64(estimated)
		}
		c.book.counts[c.at] = known
		c.book.mu.Unlock()
	}
}

// asCounted gives an estimate as the endpoint would count it.
func (c *Call) asCounted(estimated int) int {
	c.book.mu.Lock()
	known := c.book.counts[c.at]
	c.book.mu.Unlock()
	ratio := known.ofTexts
	if c.isCounted {
		ratio = known.ofCount
	}
	if ratio == 0 || !c.book.conf.Same(known.config, c.config) {
		return estimated
	}
	return int(float64(estimated) * ratio)
}

// numbersOf returns the numbers of an expression's groups; nil = it does not match.
func numbersOf(e *pattern.Pattern, text string) (out []int) {
	for i, s := range e.FindStringSubmatch(text) {
		n, err := strconv.Atoi(s)
		if i > 0 && err != nil {
			return nil
		}
		if i > 0 {
			out = append(out, n)
		}
	}
	return out
}

// firstNumber returns the first number that an expression has a group for; 0 = none.
func firstNumber(e *pattern.Pattern, text string) int {
	for i, s := range e.FindStringSubmatch(text) {
		if n, err := strconv.Atoi(s); i > 0 && err == nil {
			return n
		}
	}
	return 0
}

// creditTime is for how long the answers of an endpoint stay as short as its credit was enough for: then one request asks for more again.
const creditTime = 15 * time.Minute

// credit is how long an answer an endpoint's credit was enough for.
type credit struct {
	most   int // tokens
	until  time.Time
	config string
}

// lackCredit remembers for creditTime how many tokens the credit is enough for. Answers use it up: later calls ask for less than that.
func (b *Book) lackCredit(at Endpoint, most int, config string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if most -= most / 4; most >= minAnswer {
		b.credits[at] = credit{most, b.conf.Now().Add(creditTime), config}
	}
}

// affords gives how many tokens the credit is enough for; 0 = as many as are asked for. b.mu is held.
func (b *Book) affords(at Endpoint, config string) int {
	switch known := b.credits[at]; {
	case known.most == 0:
	case b.conf.Now().Before(known.until) && b.conf.Same(known.config, config):
		return known.most
	default:
		delete(b.credits, at)
	}
	return 0
}

// shortenAnswer asks for a shorter answer in this call when an error says how many tokens there is room or money for, and reports whether it did.
// What there is room for is not remembered, the next prompt has another length; the window is.
func (c *Call) shortenAnswer(ctx context.Context, err error, sent Sent) bool {
	e, isModel := errors.AsType[*agent.ModelError](err)
	f, isFault := errors.AsType[*wire.Fault](err)
	if !isModel || !isFault || c.changed.count >= maxChanges {
		return false
	}
	text := reasons(withoutQuotes(f, sent).All)
	for _, p := range sent.Params {
		n, err := strconv.Atoi(p.Value)
		if !slices.Contains(limits, p.Name) || err != nil && (p.Value != Unset || e.Class != agent.NoCredit) {
			continue
		}
		most, prompt := 0, 0
		switch e.Class {
		case agent.NoCredit:
			most = firstNumber(affordable, text)
		case agent.TooLong, agent.BadRequest:
			if most, prompt = roomOf(text); most == 0 {
				most, prompt = roomBeside(text, n)
			}
			c.countsMore(prompt)
		}
		if most < minAnswer || err == nil && n <= most || c.most == most {
			continue
		}
		c.changed.judge(f.Text, c.lesson(p.refused("")), true)
		if c.most = most; e.Class == agent.NoCredit {
			c.book.lackCredit(c.at, most, c.config)
		} else {
			c.learnWindow(ctx, most+prompt, e.Said)
		}
		c.changed.count++
		return true
	}
	return false
}

// ForPrompt says which prompt the call is for: an answer is asked for that fits behind it, where the window was learned.
func (c *Call) ForPrompt(p agent.Prompt) *Call {
	c.isCounted = agent.IsCounted(p.Messages)
	c.estimated = func() int { return agent.PromptTokens(p.System, p.Tools, p.Messages) }
	return c
}

// room returns how many tokens the answer may have in this call; 0 = as many as are asked for.
func (c *Call) room() int {
	if c.most > 0 {
		return c.most
	}
	if c.isEmpty() || c.estimated == nil {
		return c.credit
	}
	window := c.countOf(Window)
	if window == 0 {
		return c.credit
	}
	if rest := window - c.asCounted(c.estimated()) - promptMargin; rest >= minAnswer && (c.credit == 0 || rest < c.credit) {
		return rest
	}
	return c.credit // an estimate may be far off: the endpoint counts
}

// withinRoom bounds the value of a parameter for the length of an answer.
func (c *Call) withinRoom(name, value string, send bool) (string, bool) {
	most := c.room()
	if most == 0 {
		return value, send
	}
	n, err := strconv.Atoi(value)
	if send && (err != nil || n <= most) || !send && c.most == 0 && c.credit == 0 {
		return value, send
	}
	return c.param(name, strconv.Itoa(most))
}
