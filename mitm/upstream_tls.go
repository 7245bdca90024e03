package mitm

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
)

// UpstreamTLS returns the TLS configuration for connecting to the server at, which gets
// the requests for the host name. The server's certificate may be for either of the two.
func UpstreamTLS(roots *x509.CertPool, at, name string) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, NextProtos: []string{"http/1.1"}}
	if at != name {
		verifyMoved(config, roots, at, name)
	}
	return config
}

// verifyMoved accepts a certificate for the host of a configured base URL or for the host
// that it replaces. A server with an IP address can only have the latter. The chain is
// verified here instead of by crypto/tls.
func verifyMoved(c *tls.Config, roots *x509.CertPool, names ...string) {
	if net.ParseIP(names[0]) != nil {
		c.ServerName = names[1] // an address cannot be a server name
	}
	c.InsecureSkipVerify = true
	c.VerifyConnection = func(s tls.ConnectionState) error {
		if len(s.PeerCertificates) == 0 {
			return errors.New("the upstream has no certificate")
		}
		intermediates := x509.NewCertPool()
		for _, cert := range s.PeerCertificates[1:] {
			intermediates.AddCert(cert)
		}
		var failures []error
		for _, name := range names {
			_, err := s.PeerCertificates[0].Verify(x509.VerifyOptions{DNSName: name, Roots: roots, Intermediates: intermediates})
			if err == nil {
				return nil
			}
			failures = append(failures, err)
		}
		return failures[0]
	}
}
