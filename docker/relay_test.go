package docker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// relay makes the machine's engine an engine elsewhere: it passes connections on, as they
// are, and counts.
type relay struct {
	listener net.Listener
	target   string // the engine's socket
	work     sync.WaitGroup

	connections, sent atomic.Int64 // accepted ones, and bytes from the clients

	mu    sync.Mutex
	conns map[net.Conn]bool // open ones
	gone  bool              // after down
}

// startRelay passes on what comes to a listener, until the test ends.
func startRelay(t testing.TB, listener net.Listener) *relay {
	t.Helper()
	r := &relay{listener: listener, target: connect(t).Endpoint().SocketPath(), conns: map[net.Conn]bool{}}
	r.work.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			r.connections.Add(1)
			r.work.Go(func() { r.pass(conn) })
		}
	})
	t.Cleanup(func() {
		r.down()
		r.work.Wait()
	})
	return r
}

func (r *relay) pass(conn net.Conn) {
	defer conn.Close()
	if !r.take(conn) {
		return
	}
	defer r.leave(conn)
	engine, err := net.Dial("unix", r.target)
	if err != nil {
		return
	}
	defer engine.Close()
	var up sync.WaitGroup
	up.Go(func() {
		_, err := io.Copy(engine, io.TeeReader(conn, counter{&r.sent}))
		if err != nil {
			engine.Close()
			return
		}
		_ = engine.(*net.UnixConn).CloseWrite()
	})
	_, _ = io.Copy(conn, engine)
	conn.Close()
	up.Wait()
}

// take notes an open connection, unless the relay is down.
func (r *relay) take(conn net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.gone {
		r.conns[conn] = true
	}
	return !r.gone
}

func (r *relay) leave(conn net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, conn)
}

// down ends the relay: nothing is passed on any more.
func (r *relay) down() {
	r.mu.Lock()
	r.gone = true
	r.mu.Unlock()
	r.listener.Close()
	r.cut()
}

// cut closes all connections.
func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for conn := range r.conns {
		conn.Close()
	}
}

// open returns how many connections there are.
func (r *relay) open() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.conns)
}

// counter counts what is written.
type counter struct{ n *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

// relayed returns a client of the machine's engine by way of a relay.
func relayed(t testing.TB, secure bool) (*Client, *relay) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := Endpoint{Address: "tcp://" + l.Addr().String(), Source: "test"}
	if secure {
		var config *tls.Config
		config, e.CertDir = certificates(t)
		l = tls.NewListener(l, config)
	}
	r := startRelay(t, l)
	c, err := Connect(deadline(t, patience), e)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(deadline(t, patience)) })
	return c, r
}

// certificates makes an authority and, signed by it, one certificate for the engine and the
// client. It returns what the engine uses, and the directory for the client.
func certificates(t testing.TB) (engine *tls.Config, dir string) {
	t.Helper()
	dir = shortDir(t)
	authority, authorityKey := certificate(t, nil, nil)
	leaf, key := certificate(t, authority, authorityKey)
	pair := tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}
	text, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"ca.pem":   {Type: "CERTIFICATE", Bytes: authority.Raw},
		"cert.pem": {Type: "CERTIFICATE", Bytes: leaf.Raw},
		"key.pem":  {Type: "EC PRIVATE KEY", Bytes: text},
	} {
		write(t, filepath.Join(dir, name), string(pem.EncodeToMemory(block)))
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(authority)
	return &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: trusted, ClientAuth: tls.RequireAndVerifyClientCert,
	}, dir
}

// certificate makes a certificate for 127.0.0.1, or an authority if none signs it.
func certificate(t testing.TB, parent *x509.Certificate, by *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if parent == nil {
		template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
		parent, by = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return made, key
}
