package learn

import (
	"encoding/base64"
	"net/url"
	"strings"
)

// login returns the value of the field Authorization for a registry, or "". As npm does, it
// takes what belongs to the longest part of the registry's path. A login of no registry is
// not used.
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

// loginAt is the login of exactly one place.
func (rc npmrc) loginAt(place string) string {
	if token := rc[place+":_authToken"]; token != "" {
		return "Bearer " + token
	}
	if pair := rc[place+":_auth"]; pair != "" {
		return "Basic " + pair
	}
	name, secret := rc[place+":username"], rc[place+":_password"]
	password, err := base64.StdEncoding.DecodeString(secret)
	if name == "" || secret == "" || err != nil {
		return ""
	}
	return basic(name, string(password))
}

// basic is a login by name and password.
func basic(name, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(name+":"+password))
}
