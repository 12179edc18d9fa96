package accounts

import "github.com/prometheus/client_golang/prometheus"

var (
	accountUp       = prometheus.NewDesc("parley_account_up", "Whether the platform of an account answered lately.", []string{"channel", "account"}, nil)
	accountSeen     = prometheus.NewDesc("parley_account_last_seen_timestamp_seconds", "When the platform of an account last answered, in Unix time.", []string{"channel", "account"}, nil)
	accountRestarts = prometheus.NewDesc("parley_account_restarts_total", "How often the adapter of an account was started again.", []string{"channel", "account"}, nil)
)

// Describe implements prometheus.Collector.
func (*Supervisor) Describe(ch chan<- *prometheus.Desc) {
	ch <- accountUp
	ch <- accountSeen
	ch <- accountRestarts
}

// Collect implements prometheus.Collector.
func (s *Supervisor) Collect(ch chan<- prometheus.Metric) {
	for _, a := range s.Statuses() {
		labels := []string{string(a.Channel), string(a.Account)}
		up := 0.0
		if a.Live {
			up = 1
		}
		ch <- prometheus.MustNewConstMetric(accountUp, prometheus.GaugeValue, up, labels...)
		if !a.LastSeen.IsZero() {
			ch <- prometheus.MustNewConstMetric(accountSeen, prometheus.GaugeValue, float64(a.LastSeen.UnixMilli())/1000, labels...)
		}
		ch <- prometheus.MustNewConstMetric(accountRestarts, prometheus.CounterValue, float64(a.Restarts), labels...)
	}
}
