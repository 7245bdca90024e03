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
		return fault.New("a receipt comes from text that you type on the command line, if autoApprove in config.json was enabled when the tab was opened", "forget: this tab has no receipt, so nothing that you typed can approve a call")
	}
	return nil
}

// relayReceipt tells user interfaces what is left of a receipt.
func (b *Broker) relayReceipt(r receipt.Receipt) {
	out := receiptOf(r)
	b.hub.publish(Event{Kind: EventReceipt, Receipt: &out})
}

// receiptOf converts a receipt for user interfaces.
func receiptOf(r receipt.Receipt) Receipt {
	return Receipt{
		Number:    r.Number,
		Session:   r.Session,
		ExpiresAt: r.ExpiresAt,
		Left:      r.Left,
	}
}

// ForgetClient drops what is left of every receipt of a client.
func (b *Broker) ForgetClient(c Client) { b.receipts.ForgetClient(c.ID) }
