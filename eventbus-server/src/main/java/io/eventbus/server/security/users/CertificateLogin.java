package io.eventbus.server.security.users;

import io.eventbus.server.config.CertificateSubject;
import io.eventbus.server.security.AuthenticationMethod;
import io.eventbus.server.security.Credentials;
import io.eventbus.server.security.FailedLogin;
import io.eventbus.server.security.Identity;
import io.eventbus.server.security.LoginMethod;
import io.eventbus.server.security.LoginOutcome;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import org.jspecify.annotations.Nullable;

/**
 * Login of clients without credentials in {@code Hello}, by the certificate of their TLS
 * connection. Answers at once.
 */
public final class CertificateLogin implements LoginMethod {
  /** Type of a DNS name (RFC 5280, section 4.2.1.6). */
  private static final int DNS_NAME = 2;

  private static final int URI_NAME = 6;

  private final CertificateSubject subject;
  private final @Nullable Users users;

  /**
   * Creates the method.
   *
   * @param users account and roles of each name; null if every name is admitted, without them
   */
  public CertificateLogin(CertificateSubject subject, @Nullable Users users) {
    this.subject = subject;
    this.users = users;
  }

  @Override
  public boolean takes(Credentials credentials) {
    return credentials.certificate() != null
        && credentials.user() == null
        && credentials.token() == null;
  }

  @Override
  public CompletableFuture<LoginOutcome> check(Credentials credentials) {
    X509Certificate certificate = credentials.certificate();
    return CompletableFuture.completedFuture(
        certificate == null ? new LoginOutcome.Wrong("showed no certificate") : judge(certificate));
  }

  private LoginOutcome judge(X509Certificate certificate) {
    List<String> names;
    try {
      names =
          switch (subject) {
            case URI_SAN -> alternatives(certificate, URI_NAME);
            case DNS_SAN -> alternatives(certificate, DNS_NAME);
            case CN -> commonNames(certificate);
          };
    } catch (CertificateParsingException | InvalidNameException e) {
      return new LoginOutcome.Wrong("showed a certificate whose names cannot be read");
    }
    if (names.size() != 1 || !Identity.isName(names.get(0))) {
      return new LoginOutcome.Wrong(
          "showed a certificate with "
              + names.size()
              + " names of the kind of auth.certificate-subject (expected: 1, of at most "
              + Identity.MAX_NAME_CHARS
              + " characters)");
    }
    String name = names.get(0);
    if (users == null) {
      return new LoginOutcome.Proved(
          new Identity(
              "",
              name,
              AuthenticationMethod.CERTIFICATE,
              Set.of(),
              Map.of(),
              Map.of(),
              Map.of(),
              null,
              null));
    }
    User user = users.current().find(name);
    return user == null
        ? new LoginOutcome.Wrong(
            new FailedLogin("showed a certificate whose name is not in the users file", "", name))
        : new LoginOutcome.Proved(user.identity(AuthenticationMethod.CERTIFICATE));
  }

  private static List<String> alternatives(X509Certificate certificate, int kind)
      throws CertificateParsingException {
    Collection<List<?>> all = certificate.getSubjectAlternativeNames();
    List<String> names = new ArrayList<>();
    if (all != null) {
      for (List<?> name : all) {
        if (name.get(0).equals(kind)) {
          names.add(String.valueOf(name.get(1)));
        }
      }
    }
    return names;
  }

  private static List<String> commonNames(X509Certificate certificate) throws InvalidNameException {
    List<String> names = new ArrayList<>();
    for (Rdn part : new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
      if (part.getType().equalsIgnoreCase("CN")) {
        names.add(String.valueOf(part.getValue()));
      }
    }
    return names;
  }
}
