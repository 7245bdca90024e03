package scripted

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net"
	"time"
)

// authority is a certificate authority that lives as long as its server. Its
// private key is dropped as soon as the one certificate is signed.
type authority struct {
	pool *x509.CertPool
	pem  []byte
	leaf tls.Certificate
}

// Hosts are the names of the providers whose wire formats are spoken, as agents
// know them.
func Hosts() []string {
	return []string{"api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com"}
}

// loginHosts are the further names under which logins are used and renewed.
func loginHosts() []string {
	return []string{"platform.claude.com", "chatgpt.com", "auth.openai.com"}
}

// newAuthority makes an authority and the server's certificate.
func newAuthority() (*authority, error) {
	now := time.Now()
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	root := &x509.Certificate{
		Subject:   pkix.Name{CommonName: "IronCurtain scripted provider"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(30 * 24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	if err != nil {
		return nil, fmt.Errorf("make an authority: %w", err)
	}
	if root, err = x509.ParseCertificate(rootDER); err != nil {
		return nil, fmt.Errorf("read back the authority: %w", err)
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	leaf := &x509.Certificate{
		Subject:   pkix.Name{CommonName: Hosts()[0]},
		NotBefore: root.NotBefore, NotAfter: root.NotAfter,
		DNSNames: append(append(Hosts(), loginHosts()...), "localhost"), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, root, leafKey.Public(), rootKey)
	if err != nil {
		return nil, fmt.Errorf("make a certificate: %w", err)
	}
	a := &authority{
		pool: x509.NewCertPool(),
		pem:  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}),
		leaf: tls.Certificate{Certificate: [][]byte{leafDER}, PrivateKey: leafKey},
	}
	a.pool.AddCert(root)
	return a, nil
}
