package models

import "github.com/prometheus/client_golang/prometheus"

var breakerState = prometheus.NewDesc("parley_model_breaker", "1 for the current state of a model provider, or of its worst model.", []string{"provider", "state"}, nil)

// Describe implements prometheus.Collector.
func (m *Set) Describe(ch chan<- *prometheus.Desc) { ch <- breakerState }

// Collect implements prometheus.Collector.
func (m *Set) Collect(ch chan<- prometheus.Metric) {
	for name, b := range m.breakers() {
		ch <- prometheus.MustNewConstMetric(breakerState, prometheus.GaugeValue, 1, name, b.State())
	}
}
