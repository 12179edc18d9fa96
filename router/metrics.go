package router

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/router/delivery"
	"parley/router/turn"
)

// Metrics counts what the router does. The nil *Metrics counts nothing.
type Metrics struct {
	inbound  *inboundMetrics
	turns    *turn.Metrics
	delivery *delivery.Metrics
}

// NewMetrics registers the router's metrics.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	return &Metrics{newInboundMetrics(reg), turn.NewMetrics(reg), delivery.NewMetrics(reg)}
}

func (m *Metrics) ofInbound() *inboundMetrics {
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
