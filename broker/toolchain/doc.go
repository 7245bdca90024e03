// Package toolchain finds out which toolchains the projects in a workspace need, and keeps
// what the person said about them.
//
// An agent can only build a project whose toolchain is in its image. Look therefore reads
// the names of a workspace's files, and of its devcontainer.json the image and the
// features. It runs nothing and follows no link out of the workspace. What it finds is
// only a proposal: the broker shows it to the person, and Answers keeps what the person
// said, by workspace, so that nobody is asked twice.
//
// Project tells whether a directory belongs to a project at all: the program that is started
// there asks whether to work in it, and Answers keeps that, too.
package toolchain
