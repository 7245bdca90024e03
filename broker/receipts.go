package broker

import "sync"

// receipts numbers a session's trusted inputs and keeps the latest. A new one
// replaces it: only the last thing a person said is their intent.
type receipts struct {
	mu   sync.Mutex
	last Receipt
	text TrustedInput
}

// add records an input and completes its receipt with the number.
func (r *receipts) add(in TrustedInput, receipt Receipt) Receipt {
	r.mu.Lock()
	defer r.mu.Unlock()
	receipt.Number = r.last.Number + 1
	r.last, r.text = receipt, in
	return receipt
}
