package agent

import (
	"errors"
)

// response is what came of a request.
type response struct {
	answer *Answer
	by     Candidate
	err    error
}

func (x *response) refused() bool { return IsRefusal(x.answer, x.err) }

// failed reports whether an endpoint answered, in a way that it may also have for content that it does not like. One that is not reached,
// takes too long, is busy for a known time, or wants money says nothing about content; afterRefusal is for what is a refusal.
func (x *response) failed() bool {
	if x.err == nil {
		return x.answer.empty()
	}
	e, ok := errors.AsType[*ModelError](x.err)
	if !ok {
		return false
	}
	switch e.Class {
	case Overloaded, Broken, BadKey, NoSuchModel, BadAddress:
		return true
	case Unreachable: // a page of something in between
		return e.Status != 0
	case RateLimited:
		return e.RetryAfter == 0
	}
	return false
}

// isTooLong reports whether a model found the prompt too long.
func (x *response) isTooLong() bool {
	e, ok := errors.AsType[*ModelError](x.err)
	return ok && e.Class == TooLong
}

// takePart makes an answer of one that its provider gave again and again without saying whether it is complete, or that had no room, where no
// model gave another one.
func (x *response) takePart() {
	if e, ok := errors.AsType[*ModelError](x.err); ok && e.Part != nil {
		x.answer, x.err = e.Part, nil
	}
}
