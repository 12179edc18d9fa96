package accounts

import "github.com/prometheus/client_golang/prometheus"

var (
	accountUp       = prometheus.NewDesc("parley_account_up", "1 if the platform of the account answered recently.", []string{"channel", "account"}, nil)
	accountSeen     = prometheus.NewDesc("parley_account_last_seen_timestamp_seconds", "Time of the platform's last answer, in Unix seconds.", []string{"channel", "account"}, nil)
	accountRestarts = prometheus.NewDesc("parley_account_restarts_total", "Restarts of the account's adapter.", []string{"channel", "account"}, nil)
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
