package router

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/router/delivery"
	"parley/router/inbound"
	"parley/router/turn"
)

// Metrics counts what the router does. The nil *Metrics counts nothing.
type Metrics struct {
	inbound  *inbound.Metrics
	turns    *turn.Metrics
	delivery *delivery.Metrics
}

// NewMetrics registers the router's metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	return &Metrics{inbound.NewMetrics(reg), turn.NewMetrics(reg), delivery.NewMetrics(reg)}
}

func (m *Metrics) ofInbound() *inbound.Metrics {
	if m == nil {
		return nil
	}
	return m.inbound
}

func (m *Metrics) ofTurns() *turn.Metrics {
	if m == nil {
		return nil
	}
	return m.turns
}

func (m *Metrics) ofGate() *delivery.Metrics {
	if m == nil {
		return nil
	}
	return m.delivery
}
