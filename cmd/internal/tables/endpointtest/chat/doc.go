// Package chat proves what the table of endpoint behaviours says of chat completions that are answered: its test plays those rows. See endpointtest.
package chat
