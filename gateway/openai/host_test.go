package openai_test

import (
	"testing"

	"parley/gateway/gatewaytest"
)

// open is a host whose doors for programs of others are open.
type open struct{ *gatewaytest.Outside }

func openHost(t *testing.T, dir, more string) *open {
	return &open{gatewaytest.OpenOutside(t, dir, more)}
}
