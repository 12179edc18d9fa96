package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"parley/agent/wire/markup"
	"parley/sessions"
	"parley/tools"
)

// MaxToolResult is how much of a tool result is kept and shown to the model, in bytes.
const MaxToolResult = 80 << 10

// finishCall makes a call and records its result. When that says that something goes on which has ended meanwhile, the call is made again: that has
// no second effect (contract S14), and the result says how it ended.
func (r *turnRun) finishCall(ctx context.Context, c sessions.Block, stop string) (tools.Result, error) {
	for {
		res, err := r.call(ctx, c, stop)
		if ctx.Err() != nil {
			// The result may only say that it was interrupted. A resumed run calls again; the effect is not repeated (contract S14).
			return res, ctx.Err()
		}
		if err != nil {
			return res, err
		}
		out := sessions.Message{
			ID: newID(), Role: sessions.ToolResult, Content: append(sessions.TextContent(res.Text), res.Blocks...), Time: time.Now(), Run: r.Caller.Run.ID,
			ToolCallID: c.ID, ToolName: c.Name, IsError: res.IsError,
		}
		if res.Yield {
			out.Stop = yielded
		}
		if err := r.record(out); !errors.Is(err, sessions.ErrOutdated) {
			return res, err
		}
	}
}

// call executes one tool call, and cuts its result to what is kept. What the model did wrong becomes a result that tells it what to do;
// an error is the host's fault.
func (r *turnRun) call(ctx context.Context, c sessions.Block, stop string) (tools.Result, error) {
	tool, ok := r.tool(c.Name)
	if !ok && tools.IsSessionTool(c.Name) {
		return tools.Forbidden("There is no tool %q here: this session may not use it. The tools are: %s. Nothing was done; use one of these or answer without a tool.", c.Name, r.toolNames()), nil
	}
	if !ok {
		return wrong("There is no tool %q. The tools are: %s. Nothing was done; use one of these or answer without a tool.",
			capText(c.Name, 200), r.toolNames()), nil
	}
	spec := tool.Spec()
	if many, ok := tool.(tools.Indirect); ok {
		name, args, problem := many.Inner(objectArguments(c.Arguments))
		if problem != nil {
			return *problem, nil
		}
		name, _, _ = markup.KnownName(name, nil, func(name string) bool {
			_, known := r.behind(many, name)
			return known
		})
		if text, ok := unquoteArguments(args); ok && !json.Valid([]byte(text)) {
			if object, ok := markup.LooseObject(text, stop != StopLength); ok {
				args = object
			}
		}
		if tool, ok = r.behind(many, name); !ok {
			return wrong("%s knows no tool %q. Nothing was done; find_tool says which tools there are.", c.Name, capText(name, 200)), nil
		}
		c.Arguments, spec = args, tool.Spec()
	}
	res, err := r.execute(ctx, tool, spec, c, stop)
	res.Text = capText(cleanText(res.Text), resultLimit(spec))
	return res, err
}

// execute checks the arguments of a call against the tool's schema and makes the call.
func (r *turnRun) execute(ctx context.Context, tool tools.Tool, spec tools.Spec, c sessions.Block, stop string) (res tools.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.log.LogAttrs(ctx, slog.LevelError, "where the tool panicked", slog.String("tool", spec.Name), slog.String("stack", string(debug.Stack())))
			res, err = tools.Result{}, fmt.Errorf("tool %s panicked: %s", spec.Name, capText(fmt.Sprint(p), 500))
		}
	}()
	args, raw, err := decodeArguments(c.Arguments)
	if err != nil {
		if stop == StopLength {
			return wrong("The call of %s was cut off by the length limit of the answer before its arguments were complete. "+
				"Nothing was done; call it again with shorter arguments.", spec.Name), nil
		}
		return wrong("The arguments of %s are not a JSON object: %v. Nothing was done; call it again with valid JSON.", spec.Name, err), nil
	}
	schema, err := r.schemas.get(spec.Schema)
	if err != nil {
		r.log.LogAttrs(ctx, slog.LevelError, "a tool has an unusable schema", slog.String("tool", spec.Name), slog.Any("err", err))
		return wrong("The tool %s cannot be used: its description is broken. Nothing was done; go on without it.", spec.Name), nil
	}
	var ignored []string
	if !tools.ArgumentsFit(spec, args) {
		fit, left, refused := tools.FitArguments(spec, raw)
		if refused != nil {
			return *refused, nil
		}
		if !bytes.Equal(fit, raw) {
			if args, raw, err = decodeArguments(fit); err != nil {
				return res, err
			}
		}
		ignored = left
	}
	if err := schema.Validate(args); err != nil {
		return wrong("The arguments of %s do not fit its schema: %s. Nothing was done; correct them and call it again.",
			spec.Name, capText(tools.SchemaProblem(err), 2000)), nil
	}
	res, err = r.within(ctx, tool, spec, tools.Call{ID: c.ID, Args: raw, Caller: r.Caller})
	return tools.WithIgnored(res, ignored), err
}

// objectArguments returns what a model wrote as arguments, decoded where it is an object that was encoded twice.
func objectArguments(raw json.RawMessage) json.RawMessage {
	raw = objectOrEmpty(raw)
	if text, ok := unquoteArguments(raw); ok {
		return json.RawMessage(strings.TrimSpace(text))
	}
	return raw
}

// within executes a call inside its tool's time limit. It returns when the tool does, so that nothing of the call is still at work
// during the next step; what the tool says about its progress after that is dropped.
func (r *turnRun) within(ctx context.Context, tool tools.Tool, spec tools.Spec, c tools.Call) (tools.Result, error) {
	var over atomic.Bool
	defer over.Store(true)
	c.Progress = func(text string) {
		if r.Progress != nil && !over.Load() {
			r.Progress(spec.Name, capText(cleanText(text), 300))
		}
	}
	limited := ctx
	if spec.Timeout > 0 {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, spec.Timeout)
		defer cancel()
	}
	res, err := tool.Call(limited, c)
	if ctx.Err() != nil || limited.Err() == nil || err == nil && !res.IsError {
		return res, err
	}
	late := fmt.Sprintf("The call of %s took longer than %s and was stopped. It is not known whether it had an effect.", spec.Name, spec.Timeout)
	if err != nil {
		r.log.LogAttrs(ctx, slog.LevelWarn, "a tool ran out of time", slog.String("tool", spec.Name), slog.Any("err", err))
	} else if res.Text != "" {
		late += " It said: " + res.Text
	}
	return tools.Result{Text: late, IsError: true}, nil
}

// resultLimit is how many bytes of a tool's result are kept.
func resultLimit(spec tools.Spec) int {
	if spec.MaxResult > 0 {
		return min(spec.MaxResult, MaxToolResult)
	}
	return MaxToolResult
}

// wrong is the answer to a call that the model got wrong, in the shape of every refusal (contract G2).
func wrong(format string, args ...any) tools.Result { return tools.Mistake(format, args...) }

// decodeArguments reads what a model wrote as arguments. Nothing at all and null count as an empty object: models write them for
// tools that need no arguments. A JSON string is looked into: it is either an object that was encoded twice, or what storable
// made of arguments that were no JSON.
func decodeArguments(raw json.RawMessage) (map[string]any, json.RawMessage, error) {
	raw = objectArguments(raw)
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, nil, fmt.Errorf("%w at byte %d", err, syntax.Offset)
		}
		return nil, nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, nil, errors.New("it is some other JSON value")
	}
	return m, raw, nil
}

func objectOrEmpty(raw json.RawMessage) json.RawMessage {
	trimmed := bytes.TrimSpace(raw)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		return json.RawMessage("{}")
	}
	return trimmed
}

// SameArguments reports whether two calls have the same arguments, however they are spaced.
func SameArguments(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if a, b = objectOrEmpty(a), objectOrEmpty(b); json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return bytes.Equal(a, b)
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}

// quoteArguments makes arguments that are no JSON storable: as a JSON string of what the model wrote. Nothing means an empty object,
// unless the answer was cut off there.
func quoteArguments(raw json.RawMessage, cut bool) json.RawMessage {
	if len(bytes.TrimSpace(raw)) == 0 && !cut {
		return json.RawMessage("{}")
	}
	quoted, err := json.Marshal(cleanText(string(raw)))
	if err != nil { // a string always marshals
		return json.RawMessage("{}")
	}
	return quoted
}

func unquoteArguments(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	return text, true
}

// ArgumentsObject gives a tool call's arguments as the JSON object that every provider takes back, also where the model wrote
// something else.
func ArgumentsObject(b sessions.Block) json.RawMessage {
	raw := objectOrEmpty(b.Arguments)
	if raw[0] == '{' && json.Valid(raw) {
		return raw
	}
	text := string(raw)
	if t, ok := unquoteArguments(raw); ok {
		text = t
	}
	out, err := json.Marshal(map[string]string{"invalid_arguments": cleanText(text)})
	if err != nil { // strings always marshal
		return json.RawMessage("{}")
	}
	return out
}

// schemaCache holds resolved schemas by their text. Tools come and go with sessions, so it is emptied when it is full.
type schemaCache struct {
	mu sync.RWMutex
	m  map[string]*jsonschema.Resolved
}

const maxSchemas = 1024

func (c *schemaCache) get(raw json.RawMessage) (*jsonschema.Resolved, error) {
	c.mu.RLock()
	s, ok := c.m[string(raw)]
	c.mu.RUnlock()
	if ok {
		return s, nil
	}
	s, err := resolveSchema(raw)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.m == nil || len(c.m) >= maxSchemas {
		c.m = make(map[string]*jsonschema.Resolved)
	}
	c.m[string(raw)] = s
	return s, nil
}

func resolveSchema(raw json.RawMessage) (*jsonschema.Resolved, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return s.Resolve(nil)
}

// cleanText makes text that every store and encoder takes: valid UTF-8 without NUL.
func cleanText(s string) string {
	if utf8.ValidString(s) && !strings.Contains(s, "\x00") {
		return s
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// capText cuts s to about limit bytes, at a rune, and says how much is missing.
func capText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return fmt.Sprintf("%s\n[cut here: %d of %d bytes are shown]", s[:cut], cut, len(s))
}
