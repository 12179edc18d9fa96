// Package operations holds the operations of the host's API: one type for each resource; its fields are what it depends on, its Table lists its
// operations. The JSON of requests and answers is in api. The command line, the page and outside programs use nothing else.
//
// Place in the line: api, models → accounts → server → operations → gateway. Table joins the resources; Resolver finds what people name.
//
// Owns: nothing but the lock of a backup. Operations read the store and call the router, the supervisor of the accounts, the models and the server;
// each runs in the goroutine of its request (a login and the wait for a run have one beside it). A stream ends with its request or when the host
// begins to stop.
//
// Errors: api errors say what is wrong with a request; the errors of the store and of the router are classified by api.Problem.
package operations
