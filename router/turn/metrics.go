package turn

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/sessions"
)

// Metrics counts turns; nil counts nothing.
type Metrics struct {
	runs       *prometheus.CounterVec
	runSeconds prometheus.Histogram
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		runs:       prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_runs_total", Help: "Agent turns by kind and final status."}, []string{"kind", "status"}),
		runSeconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "parley_run_seconds", Help: "Duration of agent turns.", Buckets: prometheus.ExponentialBuckets(0.005, 3, 10)}),
	}
	reg.MustRegister(m.runs, m.runSeconds)
	return m
}

// ran counts a turn.
func (m *Metrics) ran(k sessions.RunKind, s sessions.RunStatus, took time.Duration) {
	if m != nil {
		m.runs.WithLabelValues(string(k), string(s)).Inc()
		m.runSeconds.Observe(took.Seconds())
	}
}
