package pypi

import (
	"strconv"
	"strings"
)

// The forms of documents. They are part of ETags.
const (
	formJSON    = "json"    // /simple/N/
	formHTML    = "html"    // /simple/N/
	formProject = "project" // /pypi/N/json
	formRelease = "release" // /pypi/N/V/json
)

const (
	typeJSON  = "application/vnd.pypi.simple.v1+json"
	typeHTML1 = "application/vnd.pypi.simple.v1+html"
	typeHTML  = "text/html"
	typePlain = "application/json"
)

// acceptSimple is the field Accept that is sent to the index.
const acceptSimple = typeJSON + ", " + typeHTML1 + ";q=0.2, " + typeHTML + ";q=0.1"

// offered are the media types that a client can get, with their forms. If a client accepts several
// equally, the first of them wins. A client that accepts anything gets HTML, as from any index.
var offered = []struct{ media, form, answer string }{
	{typeJSON, formJSON, typeJSON},
	{"application/vnd.pypi.simple.latest+json", formJSON, typeJSON},
	{typeHTML1, formHTML, typeHTML1},
	{"application/vnd.pypi.simple.latest+html", formHTML, typeHTML1},
	{typeHTML, formHTML, typeHTML},
}

// negotiate chooses the form of a simple document by the field Accept.
func negotiate(accept string) (form, media string) {
	form, media = formHTML, typeHTML
	best := 0.0
	for _, o := range offered {
		for part := range strings.SplitSeq(accept, ",") {
			name, parameters, _ := strings.Cut(part, ";")
			if !strings.EqualFold(strings.TrimSpace(name), o.media) {
				continue
			}
			if q := quality(parameters); q > best {
				best, form, media = q, o.form, o.answer
			}
		}
	}
	return form, media
}

// quality is the weight of a media type, from 0 to 1.
func quality(parameters string) float64 {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "q") {
			q, err := strconv.ParseFloat(value, 64)
			if err != nil || !(q >= 0 && q <= 1) {
				return 0
			}
			return q
		}
	}
	return 1
}
