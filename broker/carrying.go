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

// AttachFiles copies files to where a session's agent can read them.
func (b *Broker) AttachFiles(ctx context.Context, id SessionID, paths []string) ([]string, error) {
	s, err := b.session(id)
	if err != nil {
		return nil, err
	}
	return s.AttachFiles(ctx, paths)
}

// SaveFile copies a file of a session's agent to the host.
func (b *Broker) SaveFile(ctx context.Context, id SessionID, r SaveRequest) (string, error) {
	s, err := b.session(id)
	if err != nil {
		return "", err
	}
	return s.SaveFile(ctx, r)
}
