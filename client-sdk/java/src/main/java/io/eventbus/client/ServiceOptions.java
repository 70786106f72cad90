package io.eventbus.client;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;

/**
 * Options of a service; immutable.
 *
 * @param concurrency maximum number of requests that the handler works on at once, 0 to 65,536;
 *     default 16. The bus sends a few more ahead, which wait in this client. With 0 the member gets
 *     no requests, but the broadcasts to the service
 * @param identify whether {@link Invocation#identity} is to name the caller; default false
 * @param version of the software that serves, for people: at most 255 bytes of UTF-8
 * @param metadata for people and their tools: at most 64 entries and 4 KiB of UTF-8
 * @param rememberReplies number of the last replies that are kept, so that a request that comes
 *     again gets the same reply instead of being executed again, 0 to 1,000,000; default 0. A
 *     request that comes again while it is worked on gets that reply in any case
 * @param bufferBytes maximum size of requests that wait for the handler in this client, and again
 *     of the replies that are remembered: 1 KiB to 1 GiB, default 16 MiB. A request that does not
 *     fit is refused, not executed. Broadcasts have as much again
 * @param overflow policy of the bus when this client does not read broadcasts to the service fast
 *     enough; default {@link Overflow#DROP_OLDEST}
 */
public record ServiceOptions(
    int concurrency,
    boolean identify,
    String version,
    Map<String, String> metadata,
    int rememberReplies,
    int bufferBytes,
    Overflow overflow) {
  /** Options with 16 requests at once. */
  public static final ServiceOptions DEFAULT =
      new ServiceOptions(16, false, "", Map.of(), 0, 16 * 1024 * 1024, Overflow.DROP_OLDEST);

  /**
   * Checks the parts.
   *
   * @param concurrency as above
   * @param identify as above
   * @param version as above
   * @param metadata as above; copied
   * @param rememberReplies as above
   * @param bufferBytes as above
   * @param overflow as above
   * @throws IllegalArgumentException if one is out of range, saying which
   */
  public ServiceOptions {
    Objects.requireNonNull(version, "version");
    Objects.requireNonNull(overflow, "overflow");
    metadata = Map.copyOf(metadata);
    Checks.range("concurrency", concurrency, 0, 65_536);
    Checks.range("version, bytes of UTF-8", utf8(version), 0, 255);
    Checks.range("metadata", metadata.size(), 0, 64);
    long bytes = 0;
    for (Map.Entry<String, String> entry : metadata.entrySet()) {
      Checks.range("metadata name, bytes of UTF-8", utf8(entry.getKey()), 0, 255);
      Checks.range("metadata value, bytes of UTF-8", utf8(entry.getValue()), 0, 255);
      bytes += utf8(entry.getKey()) + utf8(entry.getValue());
    }
    Checks.range("metadata, bytes of UTF-8", bytes, 0, 4096);
    Checks.range("rememberReplies", rememberReplies, 0, 1_000_000);
    Checks.range("bufferBytes", bufferBytes, 1024, 1024 * 1024 * 1024);
  }

  private static long utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }

  /**
   * Returns options with another maximum number of requests at once.
   *
   * @param newConcurrency 0 to 65,536
   * @return new options
   */
  public ServiceOptions withConcurrency(int newConcurrency) {
    return new ServiceOptions(
        newConcurrency, identify, version, metadata, rememberReplies, bufferBytes, overflow);
  }

  /**
   * Returns options that say whether the bus names the caller.
   *
   * @param newIdentify whether it does
   * @return new options
   */
  public ServiceOptions withIdentify(boolean newIdentify) {
    return new ServiceOptions(
        concurrency, newIdentify, version, metadata, rememberReplies, bufferBytes, overflow);
  }

  /**
   * Returns options with another version.
   *
   * @param newVersion at most 255 bytes of UTF-8
   * @return new options
   */
  public ServiceOptions withVersion(String newVersion) {
    return new ServiceOptions(
        concurrency, identify, newVersion, metadata, rememberReplies, bufferBytes, overflow);
  }

  /**
   * Returns options with other metadata.
   *
   * @param newMetadata at most 64 entries and 4 KiB of UTF-8; copied
   * @return new options
   */
  public ServiceOptions withMetadata(Map<String, String> newMetadata) {
    return new ServiceOptions(
        concurrency, identify, version, newMetadata, rememberReplies, bufferBytes, overflow);
  }

  /**
   * Returns options with another number of remembered replies.
   *
   * @param replies 0 to 1,000,000
   * @return new options
   */
  public ServiceOptions withRememberReplies(int replies) {
    return new ServiceOptions(
        concurrency, identify, version, metadata, replies, bufferBytes, overflow);
  }

  /**
   * Returns options with another buffer size.
   *
   * @param newBufferBytes 1 KiB to 1 GiB
   * @return new options
   */
  public ServiceOptions withBufferBytes(int newBufferBytes) {
    return new ServiceOptions(
        concurrency, identify, version, metadata, rememberReplies, newBufferBytes, overflow);
  }

  /**
   * Returns options with another policy for broadcasts that do not fit.
   *
   * @param newOverflow the policy
   * @return new options
   */
  public ServiceOptions withOverflow(Overflow newOverflow) {
    return new ServiceOptions(
        concurrency, identify, version, metadata, rememberReplies, bufferBytes, newOverflow);
  }
}
