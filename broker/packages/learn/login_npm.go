package learn

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// login returns the value of the header field Authorization for a registry, or "". Like npm, it
// uses the login of the longest prefix of the registry's path that has one. It does not use a login
// that names no registry.
func (rc npmrc) login(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	at := "//" + u.Host + u.EscapedPath()
	for {
		at = strings.TrimRight(at, "/")
		if at == "" {
			return ""
		}
		for _, prefix := range []string{at + "/", at} {
			if value := rc.loginAt(prefix); value != "" {
				return value
			}
		}
		i := strings.LastIndexByte(at, '/')
		if i < 2 {
			return ""
		}
		at = at[:i]
	}
}

// loginAt returns the login for exactly this prefix, or "".
func (rc npmrc) loginAt(prefix string) string {
	if token := rc[prefix+":_authToken"]; token != "" {
		return "Bearer " + token
	}
	if pair := rc[prefix+":_auth"]; pair != "" {
		return "Basic " + pair
	}
	name, secret := rc[prefix+":username"], rc[prefix+":_password"]
	password, err := base64.StdEncoding.DecodeString(secret)
	if name == "" || secret == "" || err != nil {
		return ""
	}
	return basic(name, string(password))
}

// basic returns the value of Authorization for a name and a password.
func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}
