// Package wire is the protocol between a client and the daemon: frames of JSON over a Unix socket
// that only their user can reach. A client sends a hello first, and gets a welcome or a refusal. For
// a view it then sends the descriptors of its terminal, with which the daemon reads keys and draws
// without another process in between. Only a few kinds of frames follow: the window has changed, the
// client is stopped or continues, a program such as an editor needs the terminal, the view has
// ended.
package wire
