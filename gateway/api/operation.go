package api

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
)

// Operation is one thing that can be asked of the host.
type Operation struct {
	Name    string // sessions.list
	Method  string
	Path    string // as http.ServeMux has it, /api/sessions/{session}
	Scope   Scope
	Summary string       // one sentence
	Status  int          // of an answer that is no error
	Content string       // type of such an answer
	In, Out reflect.Type // parameters and answer; of a stream the type of each event or line

	plan  *plan
	do    func(ctx context.Context, in any) (any, error)
	serve http.HandlerFunc // instead of do
}

// Op describes an operation. route is "METHOD /path". In is a struct whose fields are tagged path, query or json (the body); Out is
// marshalled. A wrong In is a mistake of the program: it panics.
func Op[In, Out any](name, route string, scope Scope, summary string, do func(context.Context, In) (Out, error)) Operation {
	o := describe[In, Out](name, route, scope, summary)
	o.do = func(ctx context.Context, in any) (any, error) { return do(ctx, *in.(*In)) }
	return o
}

// Stream describes an operation that writes its answer itself: events, lines. In and Out are for the document; Decode reads In.
func Stream[In, Out any](name, route string, scope Scope, summary, content string, serve http.HandlerFunc) Operation {
	o := describe[In, Out](name, route, scope, summary)
	o.Content, o.serve = content, serve
	return o
}

// Accepts gives the operation with 202 as its status: what was asked for is durable, and goes on.
func (o Operation) Accepts() Operation {
	o.Status = http.StatusAccepted
	return o
}

func describe[In, Out any](name, route string, scope Scope, summary string) Operation {
	method, path, ok := strings.Cut(route, " ")
	if !ok || !strings.HasPrefix(path, "/") {
		panic("api: " + name + ": a route is METHOD /path, not " + route)
	}
	in := reflect.TypeFor[In]()
	return Operation{Name: name, Method: method, Path: path, Scope: scope, Summary: summary, Status: http.StatusOK, Content: "application/json",
		In: in, Out: reflect.TypeFor[Out](), plan: newPlan(name, method, path, in)}
}

// Writes reports whether the operation changes something: then it takes idempotency keys.
func (o Operation) Writes() bool { return o.Method != http.MethodGet }

// Decode reads the parameters of a stream.
func Decode[In any](w http.ResponseWriter, r *http.Request) (in In, err error) {
	// A plan is made for each call: streams are begun seldom.
	_, err = newPlan("stream", r.Method, "", reflect.TypeFor[In]()).read(w, r, reflect.ValueOf(&in).Elem())
	return in, err
}

// handler serves one operation: scope, parameters, at most once for a key.
func (o Operation) handler(seen *replays) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := o.mayUse(Caller(r.Context())); err != nil {
			WriteError(w, err)
			return
		}
		if o.serve != nil {
			o.serve(w, r)
			return
		}
		in := reflect.New(o.In)
		key, err := o.plan.read(w, r, in.Elem())
		if err != nil {
			WriteError(w, err)
			return
		}
		ctx := r.Context()
		if key == "" || !o.Writes() {
			out, err := o.do(ctx, in.Interface())
			o.answer(w, out, err)
			return
		}
		who := Caller(ctx).Name
		ctx = context.WithValue(ctx, sourceKey{}, "api:"+who+":"+o.Name+":"+key)
		a, err := seen.once(ctx, who+"\x00"+o.Name+"\x00"+key, in.Interface(), func() ([]byte, error) {
			out, err := o.do(ctx, in.Interface())
			if err != nil {
				return nil, err
			}
			return Marshal(out)
		})
		o.answer(w, json.RawMessage(a), err)
	}
}

func (o Operation) answer(w http.ResponseWriter, out any, err error) {
	if err != nil {
		WriteError(w, err)
		return
	}
	WriteJSON(w, o.Status, out)
}

// mayUse returns why a principal may not use the operation; nil = it may.
func (o Operation) mayUse(p Principal) error {
	switch {
	case p.Scope == "":
		return Refuse(http.StatusUnauthorized, "%s needs a token: send it as Authorization: Bearer …", o.Name)
	case !p.Scope.Allows(o.Scope):
		return Refuse(http.StatusForbidden, "%s", RefuseScope(o.Name, o.Scope, p))
	}
	return nil
}

type sourceKey struct{}

type onceKey struct{}

// Once gives the writes that Call does with the context an idempotency key. The store dedupes by it; answers are not replayed.
func Once(ctx context.Context, key string) (context.Context, error) {
	if err := properKey(key); err != nil {
		return nil, err
	}
	return context.WithValue(ctx, onceKey{}, key), nil
}

// Source is the dedupe key of a request with an idempotency key, for what is kept in the store: unique per principal, operation and
// key; "" without one.
func Source(ctx context.Context) string {
	s, _ := ctx.Value(sourceKey{}).(string)
	return s
}
