package inbound

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/channels"
)

// Metrics counts platform events; nil counts nothing.
type Metrics struct {
	inbound *prometheus.CounterVec
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		inbound: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_inbound_total", Help: "Platform events by channel and result."}, []string{"channel", "result"}),
	}
	reg.MustRegister(m.inbound)
	return m
}

// accepted counts a platform event.
func (m *Metrics) accepted(k channels.Kind, result string) {
	if m != nil {
		m.inbound.WithLabelValues(string(k), result).Inc()
	}
}
