package io.eventbus.protocol;

/**
 * Limits of a reader of events; every figure is a maximum, in the unit of its name.
 *
 * @param payloadBytes bytes of one event's payload, at least 1
 * @param headers headers of one event, at least 0
 * @param headerBytes bytes of the header names and values of one event together, at least 0
 */
public record FrameLimits(int payloadBytes, int headers, int headerBytes) {
  /** Maximum size of an event's key, in bytes of UTF-8. */
  public static final int MAX_KEY_BYTES = 4096;

  /** Maximum number of events in one Publish. */
  public static final int MAX_PUBLISHED_EVENTS = 65_536;

  /**
   * Maximum number of fragments of a WebSocket message: more than any client needs, because also an
   * empty one takes time.
   */
  public static final int MAX_FRAGMENTS = 1 << 20;

  /** Maximum size of a name in Hello, Subscribe and the like, in bytes of UTF-8. */
  public static final int MAX_NAME_BYTES = 255;

  /** Maximum size of an authenticated name, as members of services see it, in bytes of UTF-8. */
  public static final int MAX_IDENTITY_BYTES = 1024;

  /** Maximum size of a token, in bytes of UTF-8: enough for a JWT with many claims. */
  public static final int MAX_TOKEN_BYTES = 16 * 1024;

  /** Maximum size of the name of a journal or durable subscription, in bytes of UTF-8. */
  public static final int MAX_JOURNAL_BYTES = 128;

  /** Maximum size of the reason of a Settle, in bytes of UTF-8. */
  public static final int MAX_REASON_BYTES = 256;

  /** Maximum number of attributes in Hello. */
  public static final int MAX_ATTRIBUTES = 64;

  /**
   * Maximum size of the names and values of all attributes in Hello together, in bytes of UTF-8.
   */
  public static final int MAX_ATTRIBUTE_BYTES = 1024;

  /** Maximum number of entries in the metadata of a service. */
  public static final int MAX_METADATA = 64;

  /** Maximum size of the names and values of a service's metadata together, in bytes of UTF-8. */
  public static final int MAX_METADATA_BYTES = 4096;

  /** Maximum number of calls that a client may state as its concurrency. */
  public static final int MAX_CONCURRENCY = 65_536;

  /** Maximum size of the details of a Failure, in bytes. */
  public static final int MAX_DETAILS_BYTES = 64 * 1024;

  /** Default limits of the protocol: 1 MiB, 64 headers, 16 KiB. */
  public static final FrameLimits DEFAULT = new FrameLimits(1024 * 1024, 64, 16 * 1024);

  /** Limits for events that were checked before and need not be measured again. */
  public static final FrameLimits UNLIMITED =
      new FrameLimits(Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);

  /**
   * Checks the figures.
   *
   * @param payloadBytes bytes of one event's payload, at least 1
   * @param headers headers of one event, at least 0
   * @param headerBytes bytes of the header names and values of one event together, at least 0
   */
  public FrameLimits {
    require("payloadBytes", payloadBytes, 1);
    require("headers", headers, 0);
    require("headerBytes", headerBytes, 0);
  }

  private static void require(String name, int value, int min) {
    if (value < min) {
      throw new IllegalArgumentException(name + ": " + value + " (expected: >= " + min + ")");
    }
  }
}
