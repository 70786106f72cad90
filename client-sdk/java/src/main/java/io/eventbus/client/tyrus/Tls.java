package io.eventbus.client.tyrus;

import java.security.NoSuchAlgorithmException;
import java.util.function.Consumer;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.glassfish.grizzly.Connection;
import org.glassfish.grizzly.ssl.SSLEngineConfigurator;
import org.glassfish.grizzly.ssl.SSLFilter;
import org.jspecify.annotations.Nullable;

/** TLS of one connection: the client's own context, and the name of the host is verified. */
final class Tls {
  private Tls() {}

  /**
   * Creates the filter of a connection.
   *
   * @param context null for the JDK's own
   * @param host the name that the certificate must have
   * @param onFailure receives the failure of a handshake, before the connection is closed for it
   */
  static SSLFilter filter(
      @Nullable SSLContext context, String host, int port, Consumer<Throwable> onFailure)
      throws NoSuchAlgorithmException {
    SSLContext used = context != null ? context : SSLContext.getDefault();
    SSLEngineConfigurator configurator = new Verifying(used, host, port);
    return new SSLFilter(configurator, configurator) {
      @Override
      @SuppressWarnings("rawtypes") // As it is declared in Grizzly.
      protected void notifyHandshakeFailed(Connection connection, Throwable failure) {
        // Its listeners are called after the connection is closed, when its end was reported
        // already.
        onFailure.accept(failure);
        super.notifyHandshakeFailed(connection, failure);
      }
    };
  }

  private static final class Verifying extends SSLEngineConfigurator {
    private final String host;
    private final int port;

    Verifying(SSLContext context, String host, int port) {
      super(context, true, false, false);
      this.host = host;
      this.port = port;
    }

    @Override
    public SSLEngine createSSLEngine(String peerHost, int peerPort) {
      SSLEngine engine = super.createSSLEngine(host, port);
      SSLParameters parameters = engine.getSSLParameters();
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
      engine.setSSLParameters(parameters);
      return engine;
    }

    @Override
    public SSLEngineConfigurator copy() {
      return this;
    }
  }
}
