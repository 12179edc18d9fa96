package gateway

import (
	"github.com/prometheus/client_golang/prometheus"

	"parley/gateway/api"
)

var (
	accountUp       = prometheus.NewDesc("parley_account_up", "Whether the platform of an account answered lately.", []string{"channel", "account"}, nil)
	accountSeen     = prometheus.NewDesc("parley_account_last_seen_timestamp_seconds", "When the platform of an account last answered, in Unix time.", []string{"channel", "account"}, nil)
	accountRestarts = prometheus.NewDesc("parley_account_restarts_total", "How often the adapter of an account was started again.", []string{"channel", "account"}, nil)
)

// accountMetrics says how the accounts are.
type accountMetrics struct{ list func() []api.Account }

// Describe implements prometheus.Collector.
func (accountMetrics) Describe(ch chan<- *prometheus.Desc) {
	ch <- accountUp
	ch <- accountSeen
	ch <- accountRestarts
}

// Collect implements prometheus.Collector.
func (m accountMetrics) Collect(ch chan<- prometheus.Metric) {
	for _, s := range m.list() {
		labels := []string{string(s.Channel), string(s.Account)}
		up := 0.0
		if s.Live {
			up = 1
		}
		ch <- prometheus.MustNewConstMetric(accountUp, prometheus.GaugeValue, up, labels...)
		if !s.LastSeen.IsZero() {
			ch <- prometheus.MustNewConstMetric(accountSeen, prometheus.GaugeValue, float64(s.LastSeen.UnixMilli())/1000, labels...)
		}
		ch <- prometheus.MustNewConstMetric(accountRestarts, prometheus.CounterValue, float64(s.Restarts), labels...)
	}
}
