package tools

import (
	"testing"

	"parley/channels"
)

// What lets one in is taken out of texts; a setting in an address is a word like others.
func TestAddressSecrets(t *testing.T) {
	t.Parallel()
	const text = "on 2024-10-21 parley-host used verify-full, sesame and k3y-9f8a7b6c5d4e"
	for address, want := range map[string]string{
		"https://x.example/openai?api-version=2024-10-21&api-key=k3y-9f8a7b6c5d4e":         "on 2024-10-21 parley-host used verify-full, sesame and [secret]",
		"postgres://u:sesame-street@h/db?sslmode=verify-full&application_name=parley-host": text,
		"postgres://h/db?password=verify-full":                                             "on 2024-10-21 parley-host used [secret], sesame and k3y-9f8a7b6c5d4e",
	} {
		if got := channels.Hide(AddressSecrets(address)...).Replace(text); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
	if got := channels.Hide(AddressSecrets("postgres://u:sesame-street@h/db")...).Replace("it is sesame-street"); got != "it is [secret]" {
		t.Error(got)
	}
}
