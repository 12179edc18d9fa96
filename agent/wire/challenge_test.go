package wire

import (
	"net/http"
	"testing"

	"parley/agent"
)

// TestChallenge: the reason of a refused key may stand in a header alone. source: RFC 6750, section 3
func TestChallenge(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		`Bearer realm="x", error="invalid_token", error_description="The token expired"`: "The token expired",
		`Bearer realm="x"`: "",
		"":                 "",
	} {
		if got := string(challenge(http.Header{"Www-Authenticate": {header}})); got != want {
			t.Errorf("%s: %q", header, got)
		}
	}
}

// TestAddressWithoutVersion: Azure's address without its version is a wrong address, not a refused request; a version that is too old for a
// parameter is not. source: learn.microsoft.com/azure/ai-services/openai/reference
func TestAddressWithoutVersion(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]agent.ErrorClass{
		`{"error":{"code":"BadRequest","message":"Missing required query parameter: api-version"}}`:              agent.BadAddress,
		`{"error":{"code":"BadRequest","message":"API version not supported"}}`:                                  agent.BadAddress,
		`{"error":{"message":"reasoning_effort is enabled only for api versions 2024-12-01-preview and later"}}`: agent.BadRequest,
		`{"error":503}`: agent.BadRequest,
	} {
		f := ReadFault([]byte(text))
		f.Status = http.StatusBadRequest
		if got := classify(f); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	// A country that is not served is a matter of who asks, as Gemini's location is. source: platform.openai.com/docs/guides/error-codes
	f := ReadFault([]byte(`{"error":{"code":"unsupported_country_region_territory","message":"Country, region, or territory not supported","param":null,"type":"request_forbidden"}}`))
	if f.Status = http.StatusForbidden; classify(f) != agent.BadKey {
		t.Errorf("a country: %s", classify(f))
	}
	if f := ReadFault([]byte(`{"error":503}`)); f.Code != "503" {
		t.Errorf("the code is %q", f.Code)
	}
}
