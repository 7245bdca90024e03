package broker

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// maxTrustedText bounds one trusted input, in bytes.
const maxTrustedText = 64 << 10

// Submit records text that a person entered in the multiplexer itself. The receipt
// stays on the host; for the agent the text is ordinary typing. A session that approves
// no call automatically gets no receipt.
func (b *Broker) Submit(_ context.Context, in TrustedInput) (Receipt, error) {
	s, err := b.session(in.Session)
	if err != nil {
		return Receipt{}, err
	}
	if in.Text == "" {
		return Receipt{}, fault.New("type something first", "submit: the text is empty")
	}
	if len(in.Text) > maxTrustedText {
		return Receipt{}, fault.New("paste it into the agent instead",
			"submit: the text is %d bytes long, at most %d are recorded", len(in.Text), maxTrustedText)
	}
	select {
	case <-s.Ended():
		return Receipt{}, fault.New("open it anew with /restart", "submit: the agent has ended")
	default:
	}
	spans := make([]receipt.Span, len(in.Spans))
	for i, span := range in.Spans {
		spans[i] = receipt.Span(span)
	}
	added, err := s.AddReceipt(in.Text, spans, in.Client)
	if err != nil {
		return Receipt{}, fault.New("", "submit: %w", err)
	}
	select {
	case <-s.Ended(): // it ended meanwhile, and a resumed session has the same id
		b.receipts.Close(in.Session)
	default:
	}
	out, submission := receiptOf(added), s.Typing(in.Text)
	out.Typing, out.Pause = submission.Steps, submission.Pause
	return out, nil
}
