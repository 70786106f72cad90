package io.eventbus.server.tls;

import io.eventbus.server.config.ConfigException;
import io.eventbus.server.tls.TlsFiles.ConfiguredFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Contents of the files of one use of TLS at one moment, so that the checked bytes are the used
 * ones, whatever is written to the files meanwhile.
 */
final class TlsFileContents {
  /** Maximum size: more than a thousand certificates. */
  static final int MAX_BYTES = 1 << 20;

  private static final Pattern CERTIFICATE =
      Pattern.compile(
          "-----BEGIN (?:X509 )?CERTIFICATE-----([A-Za-z0-9+/=\\s]++)"
              + "-----END (?:X509 )?CERTIFICATE-----");
  private static final Pattern PRIVATE_KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\\s]++)-----END PRIVATE KEY-----");

  /** Kinds of keys, with a signature that shows whether a key belongs to a certificate. */
  private static final Map<String, String> SIGNATURES =
      Map.of("RSA", "SHA256withRSA", "EC", "SHA256withECDSA");

  private final TlsFiles files;
  private final byte[] certificate;
  private final byte[] key;
  private final byte[] authorities;

  private TlsFileContents(TlsFiles files, byte[] certificate, byte[] key, byte[] authorities) {
    this.files = files;
    this.certificate = certificate;
    this.key = key;
    this.authorities = authorities;
  }

  /**
   * Reads the files.
   *
   * @throws ConfigException if one cannot be read
   */
  static TlsFileContents read(TlsFiles files) {
    return new TlsFileContents(
        files, bytes(files.certificate()), bytes(files.key()), bytes(files.authorities()));
  }

  private static byte[] bytes(@Nullable ConfiguredFile file) {
    if (file == null) {
      return new byte[0];
    }
    // A directory, or a pipe that never ends, would be no file to wait for.
    if (!Files.isRegularFile(file.path())) {
      throw wrong(file, "expected: a readable file", null);
    }
    try (InputStream in = Files.newInputStream(file.path())) {
      byte[] bytes = in.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw wrong(file, "expected: at most " + MAX_BYTES + " bytes", null);
      }
      return bytes;
    } catch (IOException e) {
      throw wrong(file, "expected: a readable file", e);
    }
  }

  /** Returns a digest that tells these contents from others; it reveals no secret. */
  byte[] digest() {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      for (byte[] file : List.of(certificate, key, authorities)) {
        // The hash of each, so that bytes cannot move from one file to the next.
        digest.update(MessageDigest.getInstance("SHA-256").digest(file));
      }
      return digest.digest();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /**
   * Parses keys and certificates.
   *
   * @throws ConfigException if that is impossible, or the key is not that of the certificate
   */
  TlsMaterial parse() {
    List<X509Certificate> chain = certificates(files.certificate(), certificate);
    PrivateKey made = privateKey();
    if (!fits(made, chain.get(0).getPublicKey())) {
      throw wrong(
          files.key(),
          "expected: the private key of the first certificate in "
              + files.certificate().key().key()
              + ", "
              + files.certificate().path()
              + "; perhaps only one of the two is new",
          null);
    }
    ConfiguredFile trusted = files.authorities();
    return new TlsMaterial(
        made, chain, trusted == null ? List.of() : certificates(trusted, authorities));
  }

  private static List<X509Certificate> certificates(ConfiguredFile file, byte[] bytes) {
    List<X509Certificate> found = new ArrayList<>();
    Matcher matcher = CERTIFICATE.matcher(text(bytes));
    try {
      CertificateFactory factory = CertificateFactory.getInstance("X.509");
      while (matcher.find()) {
        found.add(
            (X509Certificate)
                factory.generateCertificate(new ByteArrayInputStream(decoded(matcher.group(1)))));
      }
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      throw wrong(
          file, "expected: certificates in PEM; number " + (found.size() + 1) + " is none", e);
    }
    if (found.isEmpty()) {
      throw wrong(file, "expected: certificates in PEM, -----BEGIN CERTIFICATE-----", null);
    }
    return found;
  }

  private PrivateKey privateKey() {
    String text = text(key);
    PemKey.check(files.key(), text);
    Matcher matcher = PRIVATE_KEY.matcher(text);
    if (!matcher.find()) {
      throw wrong(
          files.key(),
          "expected: an unencrypted PKCS#8 key in PEM, -----BEGIN PRIVATE KEY-----",
          null);
    }
    for (String kind : SIGNATURES.keySet()) {
      try {
        return KeyFactory.getInstance(kind)
            .generatePrivate(new PKCS8EncodedKeySpec(decoded(matcher.group(1))));
      } catch (GeneralSecurityException | IllegalArgumentException e) {
        // Not of this kind. The library's message about the bytes of a key is not repeated.
      }
    }
    throw wrong(files.key(), "expected: an RSA or EC key in PKCS#8", null);
  }

  private static boolean fits(PrivateKey key, PublicKey certified) {
    String signature = SIGNATURES.get(certified.getAlgorithm());
    if (signature == null || !certified.getAlgorithm().equals(key.getAlgorithm())) {
      return false;
    }
    byte[] text = "eventbus".getBytes(StandardCharsets.US_ASCII);
    try {
      Signature sign = Signature.getInstance(signature);
      sign.initSign(key);
      sign.update(text);
      byte[] signed = sign.sign();
      sign.initVerify(certified);
      sign.update(text);
      return sign.verify(signed);
    } catch (GeneralSecurityException e) {
      return false;
    }
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1);
  }

  private static byte[] decoded(String base64) {
    return Base64.getMimeDecoder().decode(base64);
  }

  private static ConfigException wrong(
      ConfiguredFile file, String expected, @Nullable Exception cause) {
    String told = cause == null ? "" : ": " + cause;
    ConfigException wrong = new ConfigException(List.of(file + " (" + expected + ")" + told));
    if (cause != null) {
      wrong.initCause(cause);
    }
    return wrong;
  }
}
