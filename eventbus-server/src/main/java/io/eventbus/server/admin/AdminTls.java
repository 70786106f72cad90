package io.eventbus.server.admin;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import io.eventbus.server.tls.TlsFiles;
import io.eventbus.server.tls.TlsMaterial;
import io.eventbus.server.tls.TlsSource;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.X509ExtendedKeyManager;
import org.jspecify.annotations.Nullable;

/** TLS of the administration port, as its files have it. Any thread. */
final class AdminTls {
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  private final CurrentKey keys = new CurrentKey();
  private final TlsSource source;
  private final SSLContext context;

  /**
   * Reads the files.
   *
   * @throws io.eventbus.server.config.ConfigException if they cannot be used
   */
  AdminTls(TlsFiles files) {
    source = TlsSource.open(files, keys::set);
    try {
      context = SSLContext.getInstance("TLS");
      context.init(new KeyManager[] {keys}, null, null);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has TLS", e);
    }
  }

  TlsSource source() {
    return source;
  }

  /**
   * Makes what the JDK's server asks about each new connection.
   *
   * @param first counts them until their first request is there
   */
  HttpsConfigurator configurator(FirstRequests first) {
    return new HttpsConfigurator(context) {
      @Override
      public void configure(HttpsParameters parameters) {
        first.begin(parameters.getClientAddress().getAddress());
        SSLParameters chosen = getSSLContext().getDefaultSSLParameters();
        chosen.setProtocols(PROTOCOLS);
        parameters.setSSLParameters(chosen);
      }
    };
  }

  /**
   * Gives each handshake the key that is current: the JDK's HTTP server takes its context once and
   * for all.
   */
  private static final class CurrentKey extends X509ExtendedKeyManager {
    private volatile @Nullable TlsMaterial current;

    void set(TlsMaterial material) {
      current = material;
    }

    private @Nullable TlsMaterial ofType(@Nullable String type) {
      TlsMaterial material = current;
      return material != null && material.key().getAlgorithm().equals(type) ? material : null;
    }

    /** The name of an entry is its kind of key and the certificate's number. */
    private static @Nullable String alias(@Nullable TlsMaterial material) {
      return material == null
          ? null
          : material.key().getAlgorithm() + "-" + material.chain().get(0).getSerialNumber();
    }

    @Override
    public String @Nullable [] getServerAliases(String type, Principal @Nullable [] issuers) {
      String alias = alias(ofType(type));
      return alias == null ? null : new String[] {alias};
    }

    @Override
    public @Nullable String chooseServerAlias(
        String type, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return alias(ofType(type));
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
        String type, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
      return alias(ofType(type));
    }

    /** A change between the choice and this would mix two sets: then the handshake fails. */
    private @Nullable TlsMaterial of(String alias) {
      TlsMaterial material = current;
      return alias.equals(alias(material)) ? material : null;
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(String alias) {
      TlsMaterial material = of(alias);
      return material == null ? null : material.chain().toArray(new X509Certificate[0]);
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(String alias) {
      TlsMaterial material = of(alias);
      return material == null ? null : material.key();
    }

    @Override
    public String @Nullable [] getClientAliases(String type, Principal @Nullable [] issuers) {
      return null;
    }

    @Override
    public @Nullable String chooseClientAlias(
        String[] types, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return null;
    }
  }
}
