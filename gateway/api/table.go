package api

import (
	"context"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// Table is the whole API.
type Table []Operation

// Handler serves the operations. Put what knows the principal (With) in front: without one everything is refused.
func (t Table) Handler() http.Handler {
	mux := http.NewServeMux()
	seen := newReplays()
	methods := map[string][]string{}
	for _, o := range t {
		mux.HandleFunc(o.Method+" "+o.Path, o.handler(seen))
		methods[o.Path] = append(methods[o.Path], o.Method)
	}
	for path, allowed := range methods {
		slices.Sort(allowed)
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			WriteError(w, Refuse(http.StatusMethodNotAllowed, "method %.20s is not supported here: use %s", r.Method, strings.Join(allowed, " or ")))
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		WriteError(w, Refuse(http.StatusNotFound, "unknown path %.200q: GET /api/openapi.json lists all paths", r.URL.Path))
	})
	return mux
}

// Find gives an operation by its name.
func (t Table) Find(name string) (Operation, bool) {
	for _, o := range t {
		if o.Name == name {
			return o, true
		}
	}
	return Operation{}, false
}

// Call does an operation inside the process, as the principal of ctx. in points to its parameters; a field that is zero is one that was
// left out.
func Call[Out any](ctx context.Context, t Table, name string, in any) (out Out, err error) {
	o, ok := t.Find(name)
	if !ok || o.do == nil {
		return out, Refuse(http.StatusNotFound, "unknown operation %q", name)
	}
	if err := o.mayUse(Caller(ctx)); err != nil {
		return out, err
	}
	if err := o.plan.fill(reflect.ValueOf(in).Elem()); err != nil {
		return out, err
	}
	if key, ok := ctx.Value(onceKey{}).(string); ok && o.Writes() {
		ctx = context.WithValue(ctx, sourceKey{}, "page:"+Caller(ctx).Name+":"+o.Name+":"+key)
	}
	v, err := o.do(ctx, in)
	if err != nil {
		return out, err
	}
	return v.(Out), nil
}
