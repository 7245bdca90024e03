package npm

import (
	"encoding/json"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// parseAudit reads the body of a bulk audit: versions by name.
func parseAudit(body []byte) (*registry.Ask, error) {
	refuse := func(why string) (*registry.Ask, error) {
		return nil, registry.Refuse(400, registry.ReasonPath, "the audit's body is not acceptable: %s", why)
	}
	doc, err := jsonx.Parse(body, jsonx.Limits{})
	if err != nil || doc.Kind != jsonx.Object {
		return refuse("it is not an object of versions by name")
	}
	listed := make(map[string][]string)
	for _, m := range doc.Members {
		if !isName(m.Name) || m.Value.Kind != jsonx.Array {
			return refuse("it lists an invalid package name")
		}
		for _, v := range m.Value.Items {
			if v.Kind != jsonx.String || !isVersion(v.Text) {
				return refuse("it lists an invalid version")
			}
			listed[m.Name] = append(listed[m.Name], v.Text)
		}
	}
	return &registry.Ask{Kind: registry.Audit, Path: bulkPath, Listed: listed}, nil
}

// AuditBody writes the body of a bulk audit.
func (Ecosystem) AuditBody(listed map[string][]string) ([]byte, error) { return json.Marshal(listed) }

// AuditPath is the path of audits.
func (Ecosystem) AuditPath() string { return bulkPath }
