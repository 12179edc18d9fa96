package web_test

import (
	"testing"

	"parley/agent"
	"parley/agent/offline"
	"parley/gateway"
	"parley/gateway/gatewaytest"
)

// host is a whole host with the account of a fake platform.
type host struct{ *gatewaytest.Host }

func newHost(t *testing.T) *host { return newHostOf(t, offline.New()) }

func newHostOf(t *testing.T, model agent.Model, more ...func(*gateway.Deps)) *host {
	return &host{gatewaytest.NewHost(t, model, more...)}
}
