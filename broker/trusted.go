package broker

import (
	"context"
	"errors"
	"time"
)

// maxTrustedText bounds one trusted input, in bytes.
const maxTrustedText = 64 << 10

// Submit records text that a person entered in the multiplexer itself. The
// record stays on the host; what the agent gets is typing like any other.
func (b *Broker) Submit(_ context.Context, in TrustedInput) (Receipt, error) {
	s, err := b.session(in.Session)
	if err != nil {
		return Receipt{}, err
	}
	if in.Text == "" {
		return Receipt{}, problemf("type something first", "submit: the text is empty")
	}
	if len(in.Text) > maxTrustedText {
		return Receipt{}, problemf("paste it into the agent instead",
			"submit: the text is %d bytes long, at most %d are recorded", len(in.Text), maxTrustedText)
	}
	if err := checkSpans(in); err != nil {
		return Receipt{}, err
	}
	submission := s.adapter.Submit(in.Text)
	return s.receipts.add(in, Receipt{
		Session: in.Session,
		At:      time.Now(),
		Typing:  submission.Steps,
		Pause:   submission.Pause,
	}), nil
}

// checkSpans insists that the spans cover the text exactly and in order, so
// that no byte is without an origin.
func checkSpans(in TrustedInput) error {
	at := 0
	for _, span := range in.Spans {
		if span.Start != at || span.End <= span.Start || span.End > len(in.Text) {
			return errors.New("submit: the spans do not cover the text in order")
		}
		at = span.End
	}
	if at != len(in.Text) {
		return errors.New("submit: the spans do not cover the whole text")
	}
	return nil
}
