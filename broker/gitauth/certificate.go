package gitauth

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// certify makes a certificate for a host that nobody else has the key of.
func certify(host string) (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "ironcurtain-mux, for one git call"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(lifetime),
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// personsAuthorities are the certificate authorities that the person's git trusts for a
// URL, nil for this machine's.
func personsAuthorities(ctx context.Context, url string) (*x509.CertPool, error) {
	file := os.Getenv("GIT_SSL_CAINFO")
	if file == "" {
		out, err := ask(ctx, "", "git", "config", "--type=path", "--get-urlmatch", "http.sslCAInfo", url)
		var exit *exec.ExitError
		if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: it is not set
			return nil, fault.Wrap("read git's configuration", err, "see what 'git config --list' says outside of a repository")
		}
		file = strings.TrimSuffix(string(out), "\n")
	}
	if file == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Clean(file))
	pool := x509.NewCertPool()
	if err == nil && !pool.AppendCertsFromPEM(data) {
		err = errors.New(file + " holds no certificate")
	}
	if err != nil {
		return nil, fault.Wrap("read the certificate authorities that git is configured to trust", err, "mend http.sslCAInfo in git's configuration")
	}
	return pool, nil
}
