// Package messages proves what the table of endpoint behaviours says of Anthropic's messages: its test plays those rows. See endpointtest.
package messages
