package io.eventbus.server.stats;

/** Reason why a TLS handshake of a client failed. */
public enum TlsFailure {
  /** The client showed a certificate that is not trusted, or none although one is required. */
  CERTIFICATE,
  /** The client ended the handshake with an alert, most often as it does not trust the bus. */
  ALERT,
  /** The handshake was not done within {@code timeouts.upgrade}. */
  TIMEOUT,
  /**
   * The client does not speak TLS, violates it, or has no version or cipher in common with the bus.
   */
  PROTOCOL
}
