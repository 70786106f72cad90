package io.eventbus.client.tyrus;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.security.GeneralSecurityException;
import java.util.Locale;
import javax.net.ssl.SSLException;

/** Explanations, for people, of failures to connect, with the place to look at. */
final class OpeningFailure {
  private OpeningFailure() {}

  /** Explains a failure; returns the failure itself if there is nothing to add. */
  static Throwable explain(URI url, Throwable failure) {
    Throwable root = failure;
    boolean certificate = root instanceof GeneralSecurityException;
    boolean tls = root instanceof SSLException;
    for (Throwable cause = root.getCause();
        cause != null && cause != root;
        cause = root.getCause()) {
      root = cause;
      certificate |= root instanceof GeneralSecurityException;
      tls |= root instanceof SSLException;
    }
    String said = String.valueOf(root.getMessage());
    String at = url.getRawAuthority();
    if (root instanceof ConnectException) {
      return new IOException(said + " (is a bus running at " + at + "?)", root);
    }
    if (tls && certificate) {
      return new IOException(
          "the certificate of "
              + at
              + " is not trusted: "
              + said
              + " (expected: one for "
              + url.getHost()
              + " by an authority that the client's SSLContext trusts)",
          root);
    }
    // The two texts that the JDK has for it.
    if (tls && said.toLowerCase(Locale.ROOT).contains("unrecognized ssl message")) {
      return new IOException(
          at + " does not answer in TLS: " + said + " (is it a port for ws:// and not wss://?)",
          root);
    }
    return root;
  }

  /** Returns the failure of a connection that the other side closed without an answer. */
  static IOException closed(URI url) {
    String at = url.getRawAuthority();
    return new IOException(
        "wss".equals(url.getScheme())
            ? at
                + " closed before the TLS handshake or the upgrade had ended"
                + " (is it a port for ws:// and not wss://?)"
            : at
                + " closed before it had answered the request for an upgrade"
                + " (is it a port for wss:// and not ws://?)");
  }

  /** Returns the failure of a plain connection that was answered in TLS. */
  static IOException speaksTls() {
    return new IOException(
        "the answer is in TLS and not HTTP (is it a port for wss:// and not ws://?)");
  }
}
