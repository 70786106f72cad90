package io.eventbus.server.security;

/** How a client has proved who it is. */
public enum AuthenticationMethod {
  /** Not at all: the bus asks for nothing. */
  NONE,
  /** With the token that all clients of the bus share. */
  SHARED_TOKEN
}
