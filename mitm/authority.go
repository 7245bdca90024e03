package mitm

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"sync"
	"time"
)

const (
	// An authority is valid for two years before and after now, so that a session
	// survives changes of the clock. It exists only as long as its session.
	authorityLife = 2 * 365 * 24 * time.Hour
	leafLife      = 24 * time.Hour
	// leafRenewal is how long before its end a leaf is replaced. skew is how long
	// before now a leaf's validity begins, because clocks in containers drift.
	leafRenewal = time.Hour
	skew        = time.Hour
)

// authority signs certificates for the hosts of one session only. Its key is never in a
// file, and the name constraint in its certificate makes a stolen key useless for other
// hosts.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
	now         func() time.Time // time.Now, except in tests

	mu     sync.Mutex
	leaves map[string]*tls.Certificate // only hosts of the constraint
}

// newAuthority makes an authority that is constrained to the given hosts.
func newAuthority(hosts []string) (*authority, error) {
	return makeAuthority(&x509.Certificate{
		Subject:             pkix.Name{CommonName: "ironcurtain-mux session authority"},
		PermittedDNSDomains: hosts,
	})
}

// newWebAuthority makes an authority for all hosts except the given ones.
func newWebAuthority(hosts []string) (*authority, error) {
	return makeAuthority(&x509.Certificate{
		Subject:            pkix.Name{CommonName: "ironcurtain-mux session authority for approved domains"},
		ExcludedDNSDomains: hosts,
	})
}

// makeAuthority completes a template that has a name and a constraint.
func makeAuthority(template *x509.Certificate) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the session's key: %w", err)
	}
	now := time.Now()
	template.NotBefore, template.NotAfter = now.Add(-authorityLife), now.Add(authorityLife)
	template.IsCA, template.BasicConstraintsValid, template.MaxPathLenZero = true, true, true
	template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	template.PermittedDNSDomainsCritical = true
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make the session's certificate authority: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read back the session's certificate authority: %w", err)
	}
	return &authority{
		certificate: certificate,
		key:         key,
		pem:         pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		now:         time.Now,
		leaves:      make(map[string]*tls.Certificate),
	}, nil
}

// leaf returns a certificate for host that is valid for at least another hour. The caller
// has checked that host is one of the session's.
func (a *authority) leaf(host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.now()
	if c := a.leaves[host]; c != nil && now.After(c.Leaf.NotBefore) && now.Before(c.Leaf.NotAfter.Add(-leafRenewal)) {
		return c, nil
	}
	c, err := a.mint(host, now)
	if err != nil {
		return nil, err
	}
	a.leaves[host] = c
	return c, nil
}

func (a *authority) mint(host string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for %s: %w", host, err)
	}
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: host},
		DNSNames:    []string{host},
		NotBefore:   now.Add(-skew),
		NotAfter:    now.Add(leafLife - skew),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for %s: %w", host, err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("read back the certificate for %s: %w", host, err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}
