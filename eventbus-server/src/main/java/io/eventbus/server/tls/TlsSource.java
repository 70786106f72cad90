package io.eventbus.server.tls;

import io.eventbus.server.config.ConfigException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;

/**
 * Certificate, key and authorities of one use of TLS, from files. Any thread.
 *
 * <p>Each set of files is used as a whole or not at all. If a changed set cannot be used, the one
 * before stays.
 */
public final class TlsSource {
  private final TlsFiles files;
  private final Taker taker;
  private volatile TlsMaterial current;
  private byte[] digest;
  private byte[] refused = new byte[0];

  /** User of the files' content. */
  @FunctionalInterface
  public interface Taker {
    /**
     * Uses it for every connection that begins from now on.
     *
     * @throws IllegalArgumentException if it cannot be used; the former content stays in use
     */
    void take(TlsMaterial material);
  }

  private TlsSource(TlsFiles files, Taker taker, TlsFileContents contents, TlsMaterial current) {
    this.files = files;
    this.taker = taker;
    this.current = current;
    this.digest = contents.digest();
  }

  /**
   * Reads the files for the first time. An expired certificate is used, because clients may be none
   * the worse for it; {@link CertificateWatch} reports it.
   *
   * @throws ConfigException if the files cannot be used; names the file and the reason
   */
  public static TlsSource open(TlsFiles files, Taker taker) {
    TlsFileContents contents = TlsFileContents.read(files);
    TlsMaterial material = contents.parse();
    take(files, taker, material);
    return new TlsSource(files, taker, contents, material);
  }

  private static void take(TlsFiles files, Taker taker, TlsMaterial material) {
    try {
      taker.take(material);
    } catch (IllegalArgumentException e) {
      ConfigException wrong =
          new ConfigException(
              List.of(
                  files.certificate()
                      + " and "
                      + files.key()
                      + " (expected: a chain and its key for TLS 1.2 and 1.3): "
                      + e.getMessage()));
      wrong.initCause(e);
      throw wrong;
    }
  }

  /** Returns what for. */
  public String use() {
    return files.use();
  }

  /** Returns what is in use. */
  public TlsMaterial current() {
    return current;
  }

  /** Result of one look at the files. */
  sealed interface Look {
    /** The files hold what is in use, or what was refused before. */
    record Unchanged() implements Look {}

    /** The files hold something else, which is in use now. */
    record Taken(TlsMaterial material) implements Look {}

    /** The files hold something else, which cannot be used. */
    record Refused(String reason) implements Look {}
  }

  /** Reads the files, and uses what is new in them. */
  synchronized Look look(Instant now) {
    TlsFileContents contents;
    try {
      contents = TlsFileContents.read(files);
    } catch (ConfigException e) {
      return refuse(String.valueOf(e.getMessage()).getBytes(StandardCharsets.UTF_8), e);
    }
    byte[] found = contents.digest();
    if (Arrays.equals(found, digest)) {
      refused = new byte[0];
      return new Look.Unchanged();
    }
    try {
      TlsMaterial material = contents.parse();
      checkDates(material, now);
      take(files, taker, material);
      current = material;
      digest = found;
      refused = new byte[0];
      return new Look.Taken(material);
    } catch (ConfigException e) {
      return refuse(found, e);
    }
  }

  /**
   * Refuses content: the same fault is reported once, and tried again each time, because a date may
   * come.
   */
  private Look refuse(byte[] what, ConfigException problem) {
    if (Arrays.equals(what, refused)) {
      return new Look.Unchanged();
    }
    refused = what;
    return new Look.Refused(String.join("; ", problem.problems()));
  }

  private void checkDates(TlsMaterial material, Instant now) {
    Instant begins = material.certificate().getNotBefore().toInstant();
    String problem =
        now.isAfter(material.expiresAt())
            ? "has expired at " + material.expiresAt()
            : now.isBefore(begins) ? "is not valid before " + begins : "";
    if (!problem.isEmpty()) {
      throw new ConfigException(
          List.of(
              files.certificate()
                  + " "
                  + problem
                  + " (expected: a certificate that is valid now)"));
    }
  }
}
