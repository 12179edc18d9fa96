package sendtest

import (
	"slices"

	"parley/sessions"
	"parley/sessions/storetest/fixture"
)

func previews(f *fixture.Store) {
	p := sessions.Preview{Run: "r", Session: fixture.Key("1"), To: fixture.Address("1"), Key: "r.preview", State: sessions.PreviewSending, Text: "first *words*", ReplyTo: "4"}
	is := func(want sessions.Preview, there bool) {
		f.Helper()
		all, err := f.Previews(f.Context())
		f.OK(err)
		all = slices.DeleteFunc(all, func(p sessions.Preview) bool { return p.Run != "r" })
		f.Equal(len(all) == 1, there)
		if there {
			f.Equal(all[0], want)
		}
	}
	is(sessions.Preview{}, false)
	f.ErrorIs(f.ShowPreview(f.Context(), "r", "1"), sessions.ErrNotFound)
	careful := p
	careful.Known = true
	f.ErrorIs(f.BeginPreview(f.Context(), careful), sessions.ErrConflict) // the account has never written there
	f.OK(f.BeginPreview(f.Context(), p))
	is(p, true)
	f.OK(f.ShowPreview(f.Context(), "r", "77"))
	late := p
	late.Text, late.ReplyTo = "more", "5"
	f.OK(f.BeginPreview(f.Context(), late)) // changes nothing
	p.State, p.ID = sessions.PreviewShown, "77"
	is(p, true)
	careful.Run = "other" // now it has
	f.OK(f.BeginPreview(f.Context(), careful))
	all, err := f.Previews(f.Context())
	f.OK(err)
	other := careful
	other.Known = false
	f.Equal(all, []sessions.Preview{other, p})
	f.OK(f.EndPreview(f.Context(), "r"))
	f.OK(f.EndPreview(f.Context(), "r"))
	is(sessions.Preview{}, false)
}
