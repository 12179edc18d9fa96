package delivery

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/channels"
	"parley/router/settings"
	"parley/sessions"
)

// Metrics counts deliveries; nil counts nothing.
type Metrics struct {
	deliveries     *prometheus.CounterVec
	sends          *prometheus.HistogramVec
	retries        prometheus.Counter
	ambiguousSends prometheus.Counter
}

// NewMetrics registers them.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		deliveries:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_deliveries_total", Help: "Deliveries by final state."}, []string{"state"}),
		sends:          prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "parley_send_seconds", Help: "Duration of calls that send a message, by channel and error class.", Buckets: prometheus.ExponentialBuckets(0.001, 4, 8)}, []string{"channel", "class"}),
		retries:        prometheus.NewCounter(prometheus.CounterOpts{Name: "parley_delivery_retries_total", Help: "Sends that will be tried again."}),
		ambiguousSends: prometheus.NewCounter(prometheus.CounterOpts{Name: "parley_ambiguous_sends_total", Help: "Sends that may or may not have arrived."}),
	}
	reg.MustRegister(m.deliveries, m.sends, m.retries, m.ambiguousSends)
	return m
}

func (m *Metrics) ended(s sessions.DeliveryState) {
	if m != nil {
		m.deliveries.WithLabelValues(string(s)).Inc()
	}
}

func (m *Metrics) sent(ref settings.AccountRef, began time.Time, err error) {
	if m == nil {
		return
	}
	class := "ok"
	if err != nil {
		class = string(channels.Classify(err).Class)
	}
	m.sends.WithLabelValues(string(ref.Channel), class).Observe(time.Since(began).Seconds())
}

func (m *Metrics) retried() {
	if m != nil {
		m.retries.Inc()
	}
}

func (m *Metrics) ambiguous() {
	if m != nil {
		m.ambiguousSends.Inc()
	}
}
