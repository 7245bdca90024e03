package mitm

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// identity is the part of a proxy that its agent trusts and presents: the authorities and
// the sentinels. A process that has it can answer this agent, and no other, in place of
// the providers.
type identity struct {
	Authority signer            `json:"authority"`
	Web       *signer           `json:"web,omitempty"` // for approved domains and registries
	Sentinels map[string]string `json:"sentinels"`     // by provider
}

// signer is the encoded form of an authority.
type signer struct {
	Certificate []byte `json:"certificate"` // DER
	Key         []byte `json:"key"`         // SEC 1, DER
}

// ErrIdentity means that an identity does not fit the proxy that is to take it over.
var ErrIdentity = errors.New("it is not the identity of such a proxy")

// Identity returns what another proxy, in a later process, needs to serve the same agent
// (Config.Identity). It contains private keys and must never be written to a file. It
// does not contain approved domains; the agent has to ask for them again.
func (p *Proxy) Identity() ([]byte, error) {
	id := identity{Sentinels: make(map[string]string, len(p.sentinels))}
	for name, s := range p.sentinels {
		id.Sentinels[name] = s.value
	}
	var err error
	if id.Authority, err = p.authority.encode(); err != nil {
		return nil, err
	}
	if p.web != nil {
		web, err := p.web.encode()
		if err != nil {
			return nil, err
		}
		id.Web = &web
	}
	return json.Marshal(id)
}

func (a *authority) encode() (signer, error) {
	key, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		return signer{}, fmt.Errorf("encode the session's key: %w", err)
	}
	return signer{a.certificate.Raw, key}, nil
}

// takeOver replaces the proxy's new authorities and sentinels by those of an identity.
// The hosts and providers must be the same, so that the identity never serves more than
// before. It may serve less: a proxy without other hosts still keeps the authority for them,
// for the proxy after it.
func (p *Proxy) takeOver(data []byte) error {
	var id identity
	if err := json.Unmarshal(data, &id); err != nil {
		return ErrIdentity
	}
	names := slices.Sorted(maps.Keys(p.sentinels))
	if !slices.Equal(names, slices.Sorted(maps.Keys(id.Sentinels))) || id.Web == nil && p.web != nil {
		return ErrIdentity
	}
	a, err := id.Authority.read(p.authority)
	if err != nil {
		return err
	}
	p.authority = a
	if id.Web != nil {
		if p.web == nil {
			if p.web, err = newWebAuthority(p.Hosts()); err != nil {
				return err
			}
		}
		if p.web, err = id.Web.read(p.web); err != nil {
			return err
		}
	}
	for name, value := range id.Sentinels {
		if value == "" {
			return ErrIdentity
		}
		p.sentinels[name] = sentinelOf(value)
	}
	for name, g := range p.hosts {
		g.sentinel, g.tls = p.sentinels[g.provider.Name], p.tlsFor(name, p.authority)
	}
	for _, g := range p.registries {
		g.tls = p.tlsFor(g.host.Name, p.web)
	}
	return nil
}

// read decodes the authority. It must have exactly the constraints of like and be valid
// for at least as long as a leaf.
func (s signer) read(like *authority) (*authority, error) {
	certificate, err := x509.ParseCertificate(s.Certificate)
	if err != nil {
		return nil, ErrIdentity
	}
	key, err := x509.ParseECPrivateKey(s.Key)
	if err != nil || !key.PublicKey.Equal(certificate.PublicKey) ||
		!slices.Equal(certificate.PermittedDNSDomains, like.certificate.PermittedDNSDomains) ||
		!slices.Equal(certificate.ExcludedDNSDomains, like.certificate.ExcludedDNSDomains) ||
		certificate.NotAfter.Sub(like.now()) < leafLife {
		return nil, ErrIdentity
	}
	return &authority{
		certificate: certificate,
		key:         key,
		pem:         pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw}),
		leaves:      make(map[string]*tls.Certificate),
		now:         like.now,
	}, nil
}
