package broker

import "context"

// OpenPort opens a port of a session's container on this machine.
func (b *Broker) OpenPort(ctx context.Context, id SessionID, p Port) error {
	s, err := b.session(id)
	if err != nil {
		return err
	}
	return s.OpenPort(ctx, p)
}

// ClosePort ends OpenPort.
func (b *Broker) ClosePort(_ context.Context, id SessionID, container int) error {
	s, err := b.session(id)
	if err != nil {
		return err
	}
	return s.ClosePort(container)
}
