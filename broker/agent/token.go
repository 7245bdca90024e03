package agent

import "encoding/base64"

// unsigned replaces a signature, because programs that read a token expect one.
const unsigned = "bm90LXNpZ25lZA"

// unsignedToken is a token that holds claims and that nobody signed: agents look
// into it, and no server ever believes it.
func unsignedToken(claims object) string {
	part := func(v any) string { return base64.RawURLEncoding.EncodeToString([]byte(jsonText(v))) }
	return part(object{"alg": "none", "typ": "JWT"}) + "." + part(claims) + "." + unsigned
}
