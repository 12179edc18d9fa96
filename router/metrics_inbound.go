package router

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/channels"
)

// inboundMetrics counts platform events; nil counts nothing.
type inboundMetrics struct {
	inbound *prometheus.CounterVec
}

// newInboundMetrics registers them.
func newInboundMetrics(reg prometheus.Registerer) *inboundMetrics {
	m := &inboundMetrics{
		inbound: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_inbound_total", Help: "Platform events by channel and what became of them."}, []string{"channel", "result"}),
	}
	reg.MustRegister(m.inbound)
	return m
}

// accepted counts a platform event.
func (m *inboundMetrics) accepted(k channels.Kind, result string) {
	if m != nil {
		m.inbound.WithLabelValues(string(k), result).Inc()
	}
}
