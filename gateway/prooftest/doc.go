// Package prooftest is the checker of parley's reliability: it holds what people wrote, what the model was asked, what the chats show
// and what the host lists against each other, and says what does not fit.
//
// It knows nothing of the code that it checks: it imports nothing of parley. Stand-in platforms, a scripted model and the driver of
// the run each keep a log of their own and hand it over as a History; Check gives the Verdict. What ties the logs together is a
// token: a short word, unique in the run. A message of a person has one, and so has everything that it causes to be shown: its answer
// (which has that of the message), the announcement of an exchange, the report of a sub-agent.
//
// In a text a token counts only in square brackets, [m17], and each time that it stands there: a text that mentions one without
// showing it leaves the brackets away. All other words of a text are those that the model said with it, see Asked.Says.
//
// Check is pure: it owns nothing, takes no lock and starts nothing. What does not fit is a line of the Verdict, never an error.
package prooftest
