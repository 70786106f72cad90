package io.eventbus.server.stats;

/** Why a TLS handshake of a client failed. */
public enum TlsFailure {
  /** The client showed a certificate that is not trusted, or none where one is required. */
  CERTIFICATE,
  /** The client ended the handshake with an alert, most often as it does not trust the bus. */
  ALERT,
  /** The handshake was not done within {@code timeouts.upgrade}. */
  TIMEOUT,
  /** The client does not speak TLS, not as TLS demands, or nothing that the bus speaks as well. */
  PROTOCOL
}
