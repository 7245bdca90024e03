// Package wire is the protocol between a client and the daemon: frames of JSON over a Unix
// socket that only their user can reach. A client sends a hello first, and gets a welcome or a
// refusal. To be shown a view it then passes its terminal. The descriptors come with the frame,
// so the daemon reads keys and draws with no process in between. Only a few kinds of frames
// follow: the window has another size, the client is stopped or goes on, a program such as an
// editor needs the terminal, the view has ended.
package wire
