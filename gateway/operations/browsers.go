package operations

import (
	"context"
	"net/http"

	"parley/gateway/api"
	"parley/gateway/server"
)

// Browsers are the operations that let browsers in and sign them out.
type Browsers struct{ server *server.Server }

// Table lists the operations.
func (o *Browsers) Table() api.Table {
	return api.Table{
		api.Op("page.link", "POST /api/link", api.Read, "Create a login link for one browser, with the caller's rights. It works once, within two minutes.", o.pageLink),
		api.Op("page.signOut", "POST /api/sign-out", api.Admin, "Sign out every browser: existing cookies and login links become invalid. Tokens stay valid.", o.signOut),
	}
}

func (o *Browsers) pageLink(ctx context.Context, _ api.None) (api.PageLink, error) {
	inv, ok := o.server.Invite(api.Caller(ctx))
	if !ok {
		return api.PageLink{}, api.Refuse(http.StatusConflict, "the token %q is no longer valid", api.Caller(ctx).Name)
	}
	return api.PageLink{Path: inv.Path, Expires: inv.Expires}, nil
}

func (o *Browsers) signOut(context.Context, api.None) (api.SignedOut, error) {
	if err := o.server.SignOut(); err != nil {
		return api.SignedOut{}, err
	}
	return api.SignedOut{SignedOut: true}, nil
}
