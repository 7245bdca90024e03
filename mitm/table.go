package mitm

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

//go:embed providers.json
var builtinTable []byte

// Providers returns the built-in provider table.
func Providers() []Provider {
	table, err := ParseProviders(builtinTable)
	if err != nil {
		panic("mitm: the embedded provider table: " + err.Error()) // the package's tests make sure that it is valid
	}
	return table
}

// ParseProviders reads a provider table: a JSON object with the member "providers".
// Unknown members, unknown formats and invalid names are errors.
func ParseProviders(data []byte) ([]Provider, error) {
	var file struct {
		Comment   string     `json:"$comment"`
		Providers []Provider `json:"providers"`
	}
	if err := decodeStrictly(data, &file); err != nil {
		return nil, fmt.Errorf("read the provider table: %w", err)
	}
	return file.Providers, prepareAll(file.Providers)
}

// ExtendProviders returns a copy of a table to which it added entries, or in which it
// changed them. Entries and hosts are identified by name, endpoints by method and path.
// Members that an entry does not name keep their values. The table itself does not
// change.
func ExtendProviders(table []Provider, entries []json.RawMessage) ([]Provider, error) {
	encoded, err := json.Marshal(table) // a deep copy, without compiled patterns
	if err != nil {
		return nil, fmt.Errorf("copy the provider table: %w", err)
	}
	table = nil
	if err := json.Unmarshal(encoded, &table); err != nil {
		return nil, fmt.Errorf("copy the provider table: %w", err)
	}
	for _, raw := range entries {
		if table, err = extend(table, raw); err != nil {
			return nil, fmt.Errorf("extend the provider table: %w", err)
		}
	}
	return table, prepareAll(table)
}

// extend merges one entry into a table.
func extend(table []Provider, raw json.RawMessage) ([]Provider, error) {
	var entry struct {
		Provider
		Hosts []json.RawMessage `json:"hosts"`
	}
	if err := decodeStrictly(raw, &entry); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(table, func(p Provider) bool { return p.Name == entry.Name })
	if i < 0 {
		table, i = append(table, Provider{}), len(table)
	}
	p := &table[i]
	hosts := p.Hosts
	p.Hosts = nil
	if err := json.Unmarshal(raw, p); err != nil {
		return nil, err
	}
	p.Hosts = hosts
	for _, h := range entry.Hosts {
		if err := p.extendHost(h); err != nil {
			return nil, fmt.Errorf("provider %q: %w", p.Name, err)
		}
	}
	return table, nil
}

// extendHost merges one host into a provider.
func (p *Provider) extendHost(raw json.RawMessage) error {
	var entry struct {
		Host
		Endpoints []json.RawMessage `json:"endpoints"`
	}
	if err := decodeStrictly(raw, &entry); err != nil {
		return err
	}
	i := slices.IndexFunc(p.Hosts, func(h Host) bool { return h.Name == entry.Name })
	if i < 0 {
		p.Hosts, i = append(p.Hosts, Host{Name: entry.Name}), len(p.Hosts)
	}
	h := &p.Hosts[i]
	if entry.BaseURL != "" {
		h.BaseURL = entry.BaseURL
	}
	for _, raw := range entry.Endpoints {
		var e Endpoint
		if err := decodeStrictly(raw, &e); err != nil {
			return fmt.Errorf("host %q: %w", h.Name, err)
		}
		j := slices.IndexFunc(h.Endpoints, func(o Endpoint) bool { return o.Method == e.Method && o.Path == e.Path })
		if j < 0 {
			h.Endpoints = append(h.Endpoints, e)
		} else if err := json.Unmarshal(raw, &h.Endpoints[j]); err != nil {
			return err
		}
	}
	return nil
}

// decodeStrictly decodes one JSON value into v, which must know all its members.
func decodeStrictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("data after the end")
	}
	return nil
}

// prepareAll checks a table and compiles its patterns.
func prepareAll(table []Provider) error {
	owner := make(map[string]string)
	for i := range table {
		p := &table[i]
		if err := p.prepare(); err != nil {
			return fmt.Errorf("provider %q: %w", p.Name, err)
		}
		for _, h := range p.Hosts {
			if other, taken := owner[h.Name]; taken {
				return fmt.Errorf("provider %q: host %s belongs to %q already", p.Name, h.Name, other)
			}
			owner[h.Name] = p.Name
		}
	}
	return nil
}
