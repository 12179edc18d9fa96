package openclaw

import (
	"context"

	"parley/channels"
	"parley/gateway/config"
	"parley/gateway/openclaw/convert"
	"parley/gateway/openclaw/history"
	"parley/gateway/openclaw/source"
)

// settle makes parley's configuration of OpenClaw's, if there is one.
func (x *reader) settle(ctx context.Context, table config.Table, getenv func(string) string) (found bool, err error) {
	rows := func(file, table string, columns ...string) ([][]string, error) {
		return x.databases.Rows(ctx, file, table, columns...)
	}
	src := source.Load(source.Folder{Root: x.root, Getenv: getenv, Report: &x.Report, Rows: rows})
	x.read = src.Read
	x.jobsAndNotes(src, table)
	x.port = gatewayPort(src.Tree)
	paired, err := x.paired(ctx)
	if err != nil || src.Tree == nil {
		x.Unread = src.Name
		return src.Name != "", err
	}
	made := convert.Configuration(convert.Input{Top: src.Tree, Table: table, Getenv: src.Getenv, Paired: paired, Report: &x.Report})
	x.Config, x.Needs, x.Unset, x.Paired = made.Config, made.Needs, made.Unset, made.Paired
	x.mainKey, x.global, x.hasWorkspace = made.MainKey, made.Global, made.HasWorkspace
	x.Secrets = src.Secrets(x.Config)
	x.parse(table, src.Getenv)
	return true, nil
}

// paired lists the people whom OpenClaw let in by pairing, whatever the policy is now.
func (x *reader) paired(ctx context.Context) (out []convert.Person, err error) {
	people, err := history.PairedPeople(ctx, x.root, x.databases, &x.Report)
	for _, p := range people {
		out = append(out, convert.Person{Channel: channels.Kind(p.Channel), Account: channels.AccountID(p.Account), ID: channels.UserID(p.ID)})
	}
	return out, err
}
