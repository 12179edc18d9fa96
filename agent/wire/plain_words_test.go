package wire

import (
	"testing"

	"parley/agent"
)

// TestPlainWords: gateways and servers say in words of their own whose fault it is, at a status that says something else.
func TestPlainWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   agent.ErrorClass
	}{
		{400, "Client sent an HTTP request to an HTTPS server.\n", agent.BadAddress},
		{400, "<html>\r\n<head><title>400 The plain HTTP request was sent to HTTPS port</title></head>\r\n<body>\r\n<center><h1>400 Bad Request</h1></center>\r\n<center>The plain HTTP request was sent to HTTPS port</center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n", agent.BadAddress},

		{400, `{"error":{"message":"Invalid token"}}`, agent.BadKey},
		{400, `{"error":"Invalid token"}`, agent.BadKey},
		{400, "Invalid token", agent.BadKey},
		{400, `{"error":"unauthenticated"}`, agent.BadKey},
		{400, `{"error":{"message":"token expired"}}`, agent.BadKey},
		{400, `{"error":{"message":"The token has expired."}}`, agent.BadKey},
		{400, `{"error":{"message":"Authentication Fails (auth header format should be Bearer sk-...)"}}`, agent.BadKey},
		{400, `{"error":{"message":"Authentication failed"}}`, agent.BadKey},

		{400, `{"error":{"message":"Your trial has ended"}}`, agent.NoCredit},
		{400, `{"error":{"message":"Your free trial expired. Choose a plan."}}`, agent.NoCredit},
		{403, `{"error":{"message":"Subscription expired"}}`, agent.NoCredit},
		{403, `{"error":{"message":"This model is restricted by the usage policy of your plan. Upgrade to use it."}}`, agent.NoCredit},
		{403, `{"error":{"message":"restricted by the usage policy of your plan. Upgrade to use it."}}`, agent.NoCredit},

		{500, `{"error":"model \"m\" not found, try pulling it first"}`, agent.NoSuchModel},
		{500, `{"error":{"message":"model 'm' not found, try pulling it first"}}`, agent.NoSuchModel},
		{503, `{"error":{"message":"No available channel for model m under group default","type":"new_api_error"}}`, agent.NoSuchModel},
		{503, `{"error":{"message":"No available channel for model m under group default (distributor) (request id: 2026)","type":"new_api_error","code":""}}`, agent.NoSuchModel},

		{400, `{"error":{"message":"sexual content detected"}}`, agent.Refused},
		{400, `{"error":{"message":"PII detected in prompt by guardrail"}}`, agent.Refused},
		{446, `{"error":{"message":"DLP policy blocked this request"}}`, agent.Refused},
		{403, `{"error":{"message":"DLP policy blocked this request"}}`, agent.Refused},
		{400, `{"error":{"message":"prompt injection detected"}}`, agent.Refused},
		{400, `{"error":{"message":"Your prompt contains personal data (PII)"}}`, agent.Refused},
		{400, `{"error":{"message":"Hate speech was detected in the input"}}`, agent.Refused},

		{400, `{"error":{"message":"Server busy"}}`, agent.Overloaded},
		{400, `{"error":{"message":"The server is busy, please wait."}}`, agent.Overloaded},
		{420, `{"error":{"message":"busy"}}`, agent.Overloaded},
		{400, `{"error":{"message":"CUDA out of memory. Tried to allocate 2.00 GiB"}}`, agent.Overloaded},
		{422, `{"error":{"message":"worker died"}}`, agent.Overloaded},

		{400, `{"error":{"message":"KV cache is full"}}`, agent.TooLong},
		{503, `{"error":{"message":"You are being throttled"}}`, agent.RateLimited},
		{400, `{"error":{"message":"You are being throttled"}}`, agent.RateLimited},

		// The same words about something else.
		{400, `{"error":{"message":"Invalid token in JSON at position 12"}}`, agent.BadRequest},
		{400, `{"error":{"message":"tool 'sessions_list': PII is no valid enum value"}}`, agent.BadRequest},
		{400, `{"error":{"message":"unexpected field detected in input"}}`, agent.BadRequest},
		{400, `{"error":{"message":"Unsupported content type detected in input"}}`, agent.BadRequest},
		{500, `{"error":{"message":"model runner has unexpectedly stopped"}}`, agent.Overloaded},
		{500, `{"error":{"message":"model failed: file not found"}}`, agent.Overloaded},
		{400, `{"error":{"message":"max_tokens is limited on the trial plan"}}`, agent.BadRequest},
	} {
		if got := classOf(c.status, c.body); got != c.want {
			t.Errorf("%d %s\nis %s, want %s", c.status, c.body, got, c.want)
		}
	}
}
