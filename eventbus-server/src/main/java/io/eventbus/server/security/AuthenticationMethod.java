package io.eventbus.server.security;

/** How a client has proved who it is. */
public enum AuthenticationMethod {
  /** Not at all: it is anonymous. */
  NONE,
  /** With the token that all clients of the bus share. */
  SHARED_TOKEN,
  /** With a password of the users file. */
  PASSWORD,
  /** With a signed token that says who it is (JSON Web Token, RFC 7519). */
  JWT,
  /** With the certificate of its TLS connection. */
  CERTIFICATE
}
