package usage

import "time"

// maxGuess bounds the tokens that a request is taken to have brought along: most
// bytes of a large one are pictures.
const maxGuess = 200_000

// perSecond is how many tokens a model writes in a second, of which nothing need be seen
// while it thinks, or where an answer comes as a whole.
const perSecond = 50

// Guess is what a request costs whose answer does not say so, because it broke off
// or was never asked to tell: an agent must not go uncounted by hanging up before
// the end. A token has four bytes on average, and each event of a stream brings
// one. The meter is nil when no answer came. The model has written for as long as
// writing says; 0 where that is not known, or over.
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

// Tells says whether an answer should have said what it used, once it is complete:
// a stream should, and so should one that was too long to be held. Others may be about
// something else.
func (m *Meter) Tells() bool { return m.stream || m.unread > 0 }
