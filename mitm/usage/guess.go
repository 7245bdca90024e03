package usage

import "time"

// maxGuess bounds the guess of a request's input tokens, because most bytes of a large
// request are pictures.
const maxGuess = 200_000

// perSecond is how many tokens a model is assumed to write in a second. They may not be
// visible: the model may be thinking, or the answer may arrive only when it is complete.
const perSecond = 50

// Guess estimates the usage of a request whose answer does not report it, because the
// answer is incomplete or the request did not ask for a report. So an agent cannot avoid
// being counted by closing the connection early. Guess assumes four bytes for a token,
// and one token for each event of a stream. The meter is nil when no answer came. writing
// is how long the model has been writing; 0 when that is not known or the model has
// finished.
func Guess(m *Meter, requestBytes int64, writing time.Duration) Count {
	var c Count
	if m != nil {
		c = m.Count()
		c.Out = sane(max(c.Out, m.events, m.unread/4))
	}
	c.Out = max(c.Out, sane(int64(writing.Seconds()*perSecond)))
	if c.In+c.CacheRead+c.CacheWrite == 0 {
		c.In = min(requestBytes/4, maxGuess)
	}
	return c
}

// Tells reports whether a complete answer should have contained a usage report: a stream
// should, and so should an answer that was too long to be held. Other answers may have none.
func (m *Meter) Tells() bool { return m.stream || m.unread > 0 }
