package control

import (
	"log/slog"
	"net"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
)

// sameUserListener accepts only connections of the user of this process.
type sameUserListener struct {
	net.Listener
	log *slog.Logger
}

func (l *sameUserListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if err = wire.CheckPeer(conn); err == nil {
			return conn, nil
		}
		l.log.Warn("control socket refused a connection", "error", err)
		_ = conn.Close()
	}
}
