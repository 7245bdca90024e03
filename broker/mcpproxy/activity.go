package mcpproxy

// ActivityKind is the kind of an Activity.
type ActivityKind string

// The kinds of activity.
const (
	CallBegan    ActivityKind = "call-began"
	CallEnded    ActivityKind = "call-ended"
	WaitBegan    ActivityKind = "wait-began" // for a person
	WaitEnded    ActivityKind = "wait-ended"
	ClientCame   ActivityKind = "client-came"
	ClientLeft   ActivityKind = "client-left"
	ToolsListed  ActivityKind = "tools-listed" // a client has been told what there is
	ServerUp     ActivityKind = "server-up"
	ServerDown   ActivityKind = "server-down"
	ServerFailed ActivityKind = "server-failed" // a call needed it and it did not start; Detail says why
	ToolsChanged ActivityKind = "tools-changed"
	CallGranted  ActivityKind = "call-granted"  // by what a person allowed beforehand; Detail names it
	AcceptFailed ActivityKind = "accept-failed" // a client could not be let in for now; Detail says why
	CallFutile   ActivityKind = "call-futile"   // refused without asking, because it could not take effect; Detail says why
	CallUnasked  ActivityKind = "call-unasked"  // refused because too many ask, and none like it waits
)

// Activity is one event in the proxy.
type Activity struct {
	Kind   ActivityKind
	Server string
	Tool   string
	Detail string
	Number int // of the grant that let a call through
}
