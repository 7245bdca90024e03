package fakeengine

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
)

// refusal is the answer of an engine that refuses a request.
type refusal struct {
	status  int
	message string
}

// refuse answers with an error of the engine's API.
func refuse(w http.ResponseWriter, status int, message string) {
	text, _ := json.Marshal(map[string]string{"message": message})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// rewrite changes the JSON body of a request. If change refuses the request, rewrite answers it and
// returns false.
func (e *Engine) rewrite(w http.ResponseWriter, r *http.Request, change func(order map[string]any) *refusal) bool {
	var order map[string]any
	in := json.NewDecoder(r.Body)
	in.UseNumber() // limits may be too large for a float64
	if err := in.Decode(&order); err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return false
	}
	if no := change(order); no != nil {
		refuse(w, no.status, no.message)
		return false
	}
	text, err := json.Marshal(order)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return false
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(text)), int64(len(text)), nil
	r.Header.Del("Content-Length") // the new one is written from ContentLength
	return true
}

// changeCreation applies the faults to a request to create a container.
func (e *Engine) changeCreation(order map[string]any, f Faults) *refusal {
	host, ok := order["HostConfig"].(map[string]any)
	if !ok {
		host = map[string]any{}
		order["HostConfig"] = host
	}
	if no := e.changeBinds(host, f); no != nil {
		return no
	}
	if f.strips(Network) {
		// The host's network and not the bridge: another engine that a test started without
		// a bridge may have removed this one's.
		host["NetworkMode"] = "host"
		delete(order, "NetworkDisabled")
		delete(order, "NetworkingConfig")
	}
	if f.strips(Capabilities) {
		delete(host, "CapDrop")
	}
	if f.strips(WritableRoot) {
		delete(host, "ReadonlyRootfs")
	}
	if f.strips(NewPrivileges) {
		dropOption(host, "no-new-privileges")
	}
	if f.strips(Seccomp) {
		dropOption(host, "seccomp")
		options, _ := host["SecurityOpt"].([]any)
		host["SecurityOpt"] = append(options, "seccomp=unconfined")
	}
	if f.strips(User) {
		order["User"] = "0:0"
	}
	stripLimits(host, f)
	return nil
}

// changeExec applies the faults to a request to run a program in a container.
func changeExec(order map[string]any, f Faults) *refusal {
	if f.strips(User) {
		order["User"] = "0:0"
	}
	return nil
}

func stripLimits(host map[string]any, f Faults) {
	for name, fields := range map[string][]string{
		Memory:     {"Memory", "MemorySwap", "MemoryReservation"},
		Processes:  {"PidsLimit"},
		Processors: {"NanoCpus", "CpuQuota", "CpuPeriod", "CpuShares"},
	} {
		if f.strips(name) {
			for _, field := range fields {
				delete(host, field)
			}
		}
	}
}

// dropOption removes a security option, whatever its value is.
func dropOption(host map[string]any, name string) {
	options, _ := host["SecurityOpt"].([]any)
	host["SecurityOpt"] = slices.DeleteFunc(options, func(o any) bool {
		text, _ := o.(string)
		text, _, _ = strings.Cut(text, "=")
		text, _, _ = strings.Cut(text, ":")
		return text == name
	})
}
