// Package calls carries broker.Calls over a connection of package wire. Serve is the broker's side,
// Client the caller's. Each call is a frame {id, method, params} and has one answer, {id, result} or
// {id, error}; {cancel} gives up a call. A result that is too long for one frame is sent in parts
// before the answer. The answer to Subscribe is followed by events, {id, event}, until an error ends
// them. One table says for each method which rights allow it and how it is called.
package calls
