// Package refusals proves what the table of endpoint behaviours says of chat completions of which some are refused: its test plays those rows. See endpointtest.
package refusals
