// Package wire is how a client and the daemon speak: over a Unix socket that only their user
// can reach, in frames of JSON. A client says hello first, and gets a welcome or a refusal. To
// be shown a view it then passes its terminal: the descriptors travel with the frame, so the
// daemon reads keys and draws with no process in between. What follows is little: that the
// window has another size, that the client was stopped, that an editor is wanted, that the view
// has ended.
package wire
