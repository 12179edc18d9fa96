package source

import (
	"errors"
	"fmt"
	"path"
	"slices"

	"parley/gateway/openclaw/jsontree"
)

const (
	includeKey      = "$include"
	maxIncludeDepth = 10       // OpenClaw's own bound
	maxIncludes     = 200      // files in all
	maxIncluded     = 16 << 20 // bytes in all
)

// includer follows the $include of one configuration.
type includer struct {
	folder Folder
	files  int  // included so far
	bytes  int  // of them
	broken bool // one could not be included
}

// include replaces each $include below v by what the named files hold. Keys beside $include win over included ones, lists are appended, and later
// files win over earlier ones. chain has the files that lead here.
//
// source: openclaw/openclaw docs/gateway/configuration.md, "$include"
func (x *includer) include(v any, file string, chain []string, place string) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = x.include(e, file, chain, fmt.Sprintf("%s[%d]", place, i))
		}
		return out
	case map[string]any:
		rest := map[string]any{}
		for k, e := range v {
			if k != includeKey {
				rest[k] = x.include(e, file, chain, join(place, k))
			}
		}
		what, ok := v[includeKey]
		if !ok {
			return rest
		}
		included := x.includedBy(what, file, chain, place)
		if _, isObject := included.(map[string]any); len(rest) > 0 && !isObject {
			x.incomplete(place, fmt.Sprint(what), errors.New("keys beside $include need a file with an object"))
			return rest
		}
		if len(rest) == 0 {
			return included
		}
		return merge(included, rest)
	}
	return v
}

// includedBy returns what one $include stands for; an empty object if that cannot be read.
func (x *includer) includedBy(what any, file string, chain []string, place string) any {
	list, isList := what.([]any)
	if !isList {
		list = []any{what}
	}
	var out any = map[string]any{}
	for _, e := range list {
		name, _ := e.(string)
		v, err := x.includeFile(name, file, chain, place)
		switch {
		case err != nil:
			x.incomplete(place, name, err)
		case isList:
			out = merge(out, v)
		default:
			out = v
		}
	}
	return out
}

func (x *includer) includeFile(name, file string, chain []string, place string) (any, error) {
	at, ok := x.folder.inside(name, path.Dir(file))
	switch {
	case !ok:
		return nil, errors.New("the file is not in the state folder: copy it into the folder, correct the name, and import again")
	case slices.Contains(chain, at):
		return nil, errors.New("the file includes itself")
	case len(chain) > maxIncludeDepth:
		return nil, fmt.Errorf("includes are more than %d deep", maxIncludeDepth)
	case x.files >= maxIncludes:
		return nil, fmt.Errorf("more than %d files are included", maxIncludes)
	}
	x.files++
	text, err := x.folder.open(at)
	if err != nil {
		return nil, err
	}
	if x.bytes += len(text); x.bytes > maxIncluded {
		return nil, fmt.Errorf("the included files have more than %d MB", maxIncluded>>20)
	}
	v, err := x.folder.parse(at, text)
	if err != nil {
		return nil, err
	}
	return x.include(v, at, append(slices.Clone(chain), at), place), nil
}

// incomplete reports a part of the configuration that is unknown. It may have held a restriction, so all accounts are switched off.
func (x *includer) incomplete(place, name string, err error) {
	x.broken = true
	x.folder.Report.Need(join(place, includeKey)+" "+name, fmt.Sprintf("this part of the configuration is missing, so every account and the hooks are switched off (enabled: false): %v", err))
}

// switchOff disables every channel and account, and the hooks.
func switchOff(tree map[string]any) {
	if hooks := jsontree.Object(tree["hooks"]); hooks != nil {
		hooks["enabled"] = false
	}
	for _, c := range jsontree.Object(tree["channels"]) {
		if section := jsontree.Object(c); section != nil {
			section["enabled"] = false
			for _, a := range jsontree.Object(section["accounts"]) {
				if account := jsontree.Object(a); account != nil {
					account["enabled"] = false
				}
			}
		}
	}
}

// merge lays one value over another: objects key by key, lists one after the other.
func merge(under, over any) any {
	switch o := over.(type) {
	case map[string]any:
		if u, ok := under.(map[string]any); ok {
			out := map[string]any{}
			for k, v := range u {
				out[k] = v
			}
			for k, v := range o {
				if have, ok := out[k]; ok {
					v = merge(have, v)
				}
				out[k] = v
			}
			return out
		}
	case []any:
		if u, ok := under.([]any); ok {
			return slices.Concat(u, o)
		}
	}
	return over
}

func join(place, key string) string {
	if place == "" {
		return key
	}
	return place + "." + key
}
