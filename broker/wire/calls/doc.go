// Package calls carries broker.Calls over a connection of package wire. Serve is the side of the
// broker, Client that of whoever asks. Each call is a frame {id, method, params} and has one
// answer, {id, result} or {id, error}; {cancel} gives a call up. A result that is too long for a
// frame comes in parts before the answer. Subscribe is answered first, and then its events come,
// {id, event}, until an error ends them. One table says for each method which rights allow it and
// how it is called.
package calls
