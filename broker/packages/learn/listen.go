package learn

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Bounds on the requests of a tool to the listener.
const (
	maxHeard   = 16       // connections
	maxHead    = 64 << 10 // bytes of a request
	connection = 10 * time.Second
)

// listener is a proxy that records the requested addresses and refuses every request. It connects
// to nobody.
type listener struct {
	login     string // given only to the tool, so that requests of other programs are ignored
	authority *authority
	heard     []string
}

// listen calls run, which runs a tool that uses proxy and trusts the certificate root (PEM). It
// returns the addresses that the tool requested.
func listen(ctx context.Context, run func(proxy string, root []byte) error) ([]string, error) {
	made, err := newAuthority()
	if err != nil {
		return nil, err
	}
	socket, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	secret := rand.Text()
	l := &listener{login: "Basic " + base64.StdEncoding.EncodeToString([]byte("learn:"+secret)), authority: made}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range maxHeard {
			conn, err := socket.Accept()
			if err != nil {
				return
			}
			l.serve(conn)
		}
	}()
	err = run("http://learn:"+secret+"@"+socket.Addr().String(), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made.der}))
	socket.Close()
	<-ended
	return l.heard, err
}

// serve records the address that is requested on a connection.
func (l *listener) serve(conn net.Conn) {
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(connection)) != nil {
		return
	}
	r, err := http.ReadRequest(bufio.NewReader(io.LimitReader(conn, maxHead)))
	if err != nil || r.Header.Get("Proxy-Authorization") != l.login {
		refuse(conn)
		return
	}
	if r.Method != http.MethodConnect {
		l.note(r.URL)
		refuse(conn)
		return
	}
	if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
		return
	}
	inner := tls.Server(conn, &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return l.authority.certificate(hello.ServerName)
	}})
	defer inner.Close()
	asked, err := http.ReadRequest(bufio.NewReader(io.LimitReader(inner, maxHead)))
	if err != nil {
		return
	}
	u := *asked.URL
	u.Scheme, u.Host = "https", strings.TrimSuffix(r.Host, ":443")
	l.note(&u)
	refuse(inner)
}

func (l *listener) note(u *url.URL) { l.heard = append(l.heard, u.String()) }

func refuse(w io.Writer) {
	_, _ = io.WriteString(w, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
}

// authority signs the certificates of one listener.
type authority struct {
	der  []byte
	root *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	root := certificateTemplate(pkix.Name{CommonName: "ironcurtain-mux registry learn"})
	root.IsCA, root.BasicConstraintsValid, root.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, root, root, key.Public(), key)
	if err != nil {
		return nil, err
	}
	root, err = x509.ParseCertificate(der)
	return &authority{der: der, root: root, key: key}, err
}

// certificate makes a certificate for a host.
func (a *authority) certificate(host string) (*tls.Certificate, error) {
	leaf := certificateTemplate(pkix.Name{CommonName: "listening"})
	leaf.DNSNames, leaf.KeyUsage = []string{host}, x509.KeyUsageDigitalSignature
	leaf.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, leaf, a.root, a.key.Public(), a.key)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.key}, err
}

// certificateTemplate returns an unsigned certificate that is valid from an hour ago until in an
// hour.
func certificateTemplate(subject pkix.Name) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 100)) // it cannot fail
	return &x509.Certificate{
		SerialNumber: serial, Subject: subject,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
}
