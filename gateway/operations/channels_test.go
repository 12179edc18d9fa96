package operations

import (
	"strings"
	"testing"
)

func TestPhoneNumber(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "", "+49 151 234-567 89": "+4915123456789", "0049 (151) 2345678": "+491512345678", "49.151.2345678": "+491512345678",
		"0151 23456789": "!", "12345": "!", "+49 151 CALLME": "!", "+1234567890123456": "!", "++49151234567": "!",
	} {
		got, err := phoneNumber(in)
		if want == "!" && (err == nil || !strings.Contains(err.Error(), "country code")) || want != "!" && (err != nil || got != want) {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}
