package io.eventbus.server.tls;

import java.io.IOException;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * Authorities whose clients are trusted. As the JDK's own, but a refusal names the subject of the
 * certificate. Any thread.
 */
public final class ClientTrust extends X509ExtendedTrustManager {
  private final X509ExtendedTrustManager checks;

  /** Thrown for a client's certificate that is not trusted, with its subject. */
  public static final class RefusedException extends CertificateException {
    private static final long serialVersionUID = 1;

    private final String subject;

    private RefusedException(String subject, CertificateException refusal) {
      // The JDK chooses the alert by the cause of what is thrown.
      super(refusal.getMessage(), refusal.getCause());
      this.subject = subject;
    }

    /** Returns whose certificate it is, by its own account. */
    public String subject() {
      return subject;
    }
  }

  /**
   * Creates the trust in some authorities.
   *
   * @throws IllegalArgumentException if they cannot be used
   */
  public ClientTrust(List<X509Certificate> authorities) {
    try {
      KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
      trusted.load(null, null);
      for (int i = 0; i < authorities.size(); i++) {
        trusted.setCertificateEntry("authority-" + i, authorities.get(i));
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(trusted);
      checks = extended(factory.getTrustManagers());
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static X509ExtendedTrustManager extended(TrustManager[] managers) {
    for (TrustManager manager : managers) {
      if (manager instanceof X509ExtendedTrustManager checks) {
        return checks;
      }
    }
    throw new IllegalArgumentException("the JDK checks no certificates (X509ExtendedTrustManager)");
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    try {
      checks.checkClientTrusted(chain, authType, engine);
    } catch (CertificateException e) {
      throw new RefusedException(chain[0].getSubjectX500Principal().getName(), e);
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    checks.checkClientTrusted(chain, authType, socket);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    checks.checkClientTrusted(chain, authType);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine)
      throws CertificateException {
    checks.checkServerTrusted(chain, authType, engine);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket)
      throws CertificateException {
    checks.checkServerTrusted(chain, authType, socket);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String authType)
      throws CertificateException {
    checks.checkServerTrusted(chain, authType);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return checks.getAcceptedIssuers();
  }
}
