package io.eventbus.server.secret;

import io.eventbus.server.config.ConfigException;
import io.eventbus.server.config.ConfigKey;
import io.eventbus.server.config.ServerConfig;
import io.eventbus.server.session.ResumeKey;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Search for the key that this bus signs resumes with: in the file that the configuration names,
 * else from what the buses of its cluster share, else in the home of the user that runs it.
 *
 * <p>Without any of them the bus creates a key for this run, because it must start all the same:
 * its clients get new numbers when it is started again.
 */
public final class ResumeKeys {
  private static final Logger LOG = LoggerFactory.getLogger(ResumeKeys.class);

  private static final String KEY = ConfigKey.AUTH_RESUME_KEY_FILE.key();

  /** Maximum size: more than any key has, so that a wrong file is noticed. */
  private static final int MAX_BYTES = 8_192;

  private ResumeKeys() {}

  /**
   * Finds the key.
   *
   * @param config names a file, or none
   * @param ofCluster a secret of all buses of the cluster and of no other program
   * @param home where a bus that has neither keeps its key
   * @throws ConfigException if the file that the configuration names cannot be used
   */
  public static ResumeKey find(
      ServerConfig config, Supplier<Optional<byte[]>> ofCluster, Path home) {
    Path file = config.auth().resumeKeyFile();
    if (file != null) {
      return ResumeKey.of(named(file));
    }
    Optional<byte[]> shared = ofCluster.get();
    return shared.isPresent() ? ResumeKey.of(shared.get()) : kept(config, home);
  }

  /** Checks the file that the configuration names, if it names one. */
  public static void check(ServerConfig config) {
    Path file = config.auth().resumeKeyFile();
    if (file != null) {
      named(file);
    }
  }

  private static byte[] named(Path file) {
    try {
      return read(file);
    } catch (IOException e) {
      ConfigException wrong =
          new ConfigException(
              List.of(
                  KEY
                      + ": \""
                      + file
                      + "\" (expected: a readable file of "
                      + ResumeKey.MIN_SECRET_BYTES
                      + " to "
                      + MAX_BYTES
                      + " bytes): "
                      + e));
      wrong.initCause(e);
      throw wrong;
    }
  }

  private static ResumeKey kept(ServerConfig config, Path home) {
    HomeKey key = new HomeKey(home);
    try {
      return ResumeKey.of(read(key.findOrCreate()));
    } catch (IOException | SecurityException e) {
      LOG.warn(
          "No key for resumes can be kept as {}: {}. Bus {} makes one for this run: clients that"
              + " come back after its restart{} get new producer numbers, and what they send again"
              + " may be delivered twice. Set {} to a file of {} bytes or more.",
          key.file(),
          e.toString(),
          config.bus().name(),
          config.cluster().enabled() ? ", or from another bus," : "",
          KEY,
          ResumeKey.MIN_SECRET_BYTES);
      return ResumeKey.ofThisRun();
    }
  }

  /** Reads a file, byte for byte: a line break at its end counts. */
  private static byte[] read(Path file) throws IOException {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(MAX_BYTES + 1);
    }
    if (bytes.length < ResumeKey.MIN_SECRET_BYTES || bytes.length > MAX_BYTES) {
      throw new IOException(
          bytes.length > MAX_BYTES
              ? "it has more than " + MAX_BYTES + " bytes"
              : "it has " + bytes.length + " bytes");
    }
    SecretFiles.warnIfOpen(
        LOG, "key for resumes", file, "who reads it can take the producer number of any client");
    return bytes;
  }
}
