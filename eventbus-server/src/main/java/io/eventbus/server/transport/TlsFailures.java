package io.eventbus.server.transport;

import io.eventbus.base.RateLimitedLog;
import io.eventbus.server.admission.ConnectionUsage;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.stats.BusCounters;
import io.eventbus.server.stats.TlsFailure;
import io.eventbus.server.tls.ClientTrust;
import io.eventbus.server.tls.FailureText;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslHandshakeTimeoutException;
import java.util.regex.Pattern;
import org.slf4j.LoggerFactory;

/**
 * Failed TLS handshakes of clients: counted, and logged at a bounded rate. The audit log has the
 * certificates that were refused. Any thread.
 */
final class TlsFailures {
  /** Text of the JDK for a client without a required certificate. */
  private static final String NO_CERTIFICATE = "Empty client certificate chain";

  private static final String ALERT = "Received fatal alert";

  /** Netty's text for bytes that are a PROXY preface, version 1 or 2, instead of TLS. */
  private static final Pattern PROXY_PREFACE =
      Pattern.compile("not an SSL/TLS record: (50524f5859|0d0a0d0a000d0a515549540a)");

  private final BusCounters stats;
  private final Advisories advisories;
  private final RateLimitedLog log = new RateLimitedLog(LoggerFactory.getLogger(TlsFailures.class));

  TlsFailures(BusCounters stats, Advisories advisories) {
    this.stats = stats;
    this.advisories = advisories;
  }

  /** Counts and tells that the handshake of a client has failed. */
  void tell(ConnectionUsage client, Throwable failure) {
    Throwable cause =
        failure instanceof DecoderException && failure.getCause() != null
            ? failure.getCause()
            : failure;
    String text = FailureText.of(cause);
    String subject = "";
    TlsFailure reason = TlsFailure.PROTOCOL;
    for (Throwable next = cause; next != null; next = next.getCause()) {
      if (next instanceof ClientTrust.RefusedException refused) {
        reason = TlsFailure.CERTIFICATE;
        subject = FailureText.shortened(refused.subject());
        text = FailureText.of(refused);
      }
    }
    if (text.contains(NO_CERTIFICATE)) {
      reason = TlsFailure.CERTIFICATE;
    } else if (text.startsWith(ALERT)) {
      reason = TlsFailure.ALERT;
    } else if (cause instanceof SslHandshakeTimeoutException) {
      reason = TlsFailure.TIMEOUT;
    }
    if (PROXY_PREFACE.matcher(text).lookingAt()) {
      text += " (" + ConnectionAdmission.UNKNOWN_PROXY + ")";
    }
    stats.countTlsFailure(reason);
    log.warn(
        reason.name(),
        "the TLS handshake of {} has failed: {}",
        client,
        subject.isEmpty() ? text : subject + ": " + text);
    if (reason == TlsFailure.CERTIFICATE) {
      advisories.tell(
          new Advisory.ClientRefused(
              client.toString(),
              "",
              "",
              subject,
              "showed no certificate that is trusted: " + text));
    }
  }
}
