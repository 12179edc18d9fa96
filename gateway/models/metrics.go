package models

import "github.com/prometheus/client_golang/prometheus"

var breakerState = prometheus.NewDesc("parley_model_breaker", "State of a model provider, or of a paused model of the provider; 1 = current state.", []string{"provider", "state"}, nil)

// Describe implements prometheus.Collector.
func (m *Set) Describe(ch chan<- *prometheus.Desc) { ch <- breakerState }

// Collect implements prometheus.Collector.
func (m *Set) Collect(ch chan<- prometheus.Metric) {
	for name, b := range m.breakers() {
		ch <- prometheus.MustNewConstMetric(breakerState, prometheus.GaugeValue, 1, name, b.State())
	}
}
