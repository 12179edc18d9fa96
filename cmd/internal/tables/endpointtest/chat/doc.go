// Package chat proves what the table of endpoint behaviours says of chat completions: its test plays those rows. See endpointtest.
package chat
