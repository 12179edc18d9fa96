package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"reflect"
	"slices"

	"gopkg.in/yaml.v3"

	"parley/gateway/configfile"
)

// replaced names the keys of the configuration in force that the new one lacks or sets otherwise: with --use they are no longer in force.
func (to destination) replaced(text []byte) ([]string, error) {
	if to.conf.Path == "" {
		return nil, nil
	}
	old, err := configfile.Read(to.conf.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	was, err := leaves(old)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", to.conf.Path, err)
	}
	is, err := leaves(text)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(was, func(key string, v any) bool {
		return key == "state" || key == "store.dsn" || reflect.DeepEqual(is[key], v)
	})
	return slices.Sorted(maps.Keys(was)), nil
}

// leaves returns the values of a YAML document by their dotted keys; a list is one value.
func leaves(text []byte) (map[string]any, error) {
	var top any
	if err := yaml.Unmarshal(text, &top); err != nil {
		return nil, err
	}
	out := map[string]any{}
	var walk func(prefix string, v any)
	walk = func(prefix string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			out[prefix] = v
			return
		}
		for k, x := range m {
			at := k
			if prefix != "" {
				at = prefix + "." + k
			}
			walk(at, x)
		}
	}
	if top != nil {
		walk("", top)
	}
	return out, nil
}

// variablesOf returns the keys of a configuration by the variables in their values.
func variablesOf(text []byte) (map[string][]string, error) {
	values, err := leaves(text)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		for _, m := range variableName.FindAllStringSubmatch(fmt.Sprint(values[key]), -1) {
			if !slices.Contains(out[m[1]], key) {
				out[m[1]] = append(out[m[1]], key)
			}
		}
	}
	return out, nil
}
