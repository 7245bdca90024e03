package forged

import (
	"io"
	"net"
	"net/http"
)

// tunnel answers CONNECT to any host with a connection to the registry, so that a client outside a
// container can use the registry as its proxy and the same names as in a container.
func tunnel(w http.ResponseWriter, registry string) {
	conn, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer conn.Close()
	up, err := net.Dial("tcp", registry) //nolint:noctx // it is a listener of this test
	if err != nil {
		return
	}
	defer up.Close()
	if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(up, buffered)
		_ = up.Close()
	}()
	_, _ = io.Copy(conn, up)
	_ = conn.Close()
	<-done
}
