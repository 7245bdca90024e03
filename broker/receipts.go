package broker

import (
	"context"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/receipt"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// Forget drops what is left of a session's receipt.
func (b *Broker) Forget(_ context.Context, id SessionID) error {
	if _, err := b.session(id); err != nil {
		return err
	}
	if _, held := b.receipts.Forget(id); !held {
		return fault.New("text from the command line may, where autoApprove in config.json is enabled", "forget: nothing that you said to this tab may still approve a call")
	}
	return nil
}

// relayReceipt tells user interfaces what is left of a receipt. While nothing is
// approved automatically, a receipt is good for nothing and not worth a place on
// the screen.
func (b *Broker) relayReceipt(r receipt.Receipt) {
	if b.config.AutoApprove == nil {
		return
	}
	out := receiptOf(r)
	b.hub.publish(Event{Kind: EventReceipt, Receipt: &out})
}

// receiptOf is a receipt as user interfaces see it.
func receiptOf(r receipt.Receipt) Receipt {
	return Receipt{
		Number:    r.Number,
		Session:   r.Session,
		Quote:     r.Quote(),
		At:        r.At,
		ExpiresAt: r.ExpiresAt,
		Left:      r.Left,
	}
}
