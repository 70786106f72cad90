package io.eventbus.server.config;

/** What of a client's certificate is its name. */
public enum CertificateSubject {
  /** The URI of its subject alternative names. */
  URI_SAN,
  /** The DNS name of its subject alternative names. */
  DNS_SAN,
  /** The common name of its subject. */
  CN
}
