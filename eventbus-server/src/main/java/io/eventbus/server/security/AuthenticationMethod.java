package io.eventbus.server.security;

/** Method by which a client has authenticated. */
public enum AuthenticationMethod {
  /** Not at all: the client is anonymous. */
  NONE,
  /** Token that all clients of the bus share. */
  SHARED_TOKEN,
  /** Password of the users file. */
  PASSWORD,
  /** Signed token that names the client (JSON Web Token, RFC 7519). */
  JWT,
  /** Certificate of the client's TLS connection. */
  CERTIFICATE
}
