package io.eventbus.server.config;

/** Part of a client's certificate that is its name. */
public enum CertificateSubject {
  /** URI of its subject alternative names. */
  URI_SAN,
  /** DNS name of its subject alternative names. */
  DNS_SAN,
  /** Common name of its subject. */
  CN
}
