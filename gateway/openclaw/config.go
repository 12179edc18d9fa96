package openclaw

import (
	"errors"
	"fmt"
	"io/fs"

	"parley/gateway/config"
	"parley/gateway/openclaw/convert"
)

// settle makes parley's configuration of OpenClaw's, if there is one.
func (x *reader) settle(table config.Table, getenv func(string) string) (found bool, err error) {
	var name string
	var text []byte
	for _, name = range configNames {
		if text, err = x.read(name); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		x.Report.Leave("the configuration", "there is none: "+configNames[0])
		return false, nil
	}
	if err != nil {
		return false, err
	}
	v, err := parseJSON5(text)
	if err != nil {
		return false, fmt.Errorf("%s: %w", name, err)
	}
	top, ok := v.(map[string]any)
	if !ok {
		return false, fmt.Errorf("%s: it is no object", name)
	}
	made := convert.Configuration(convert.Input{Top: top, Table: table, Getenv: getenv, Paired: x.paired(), Report: &x.Report})
	x.Config, x.Needs, x.Secrets, x.Paired = made.Config, made.Needs, made.Secrets, made.Paired
	x.mainKey, x.global, x.hasWorkspace = made.MainKey, made.Global, made.HasWorkspace
	return true, nil
}
