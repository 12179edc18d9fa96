// Package responses proves what the table of endpoint behaviours says of the Responses protocol: its test plays those rows. See endpointtest.
package responses
