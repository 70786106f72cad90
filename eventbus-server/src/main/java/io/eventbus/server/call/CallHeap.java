package io.eventbus.server.call;

import io.eventbus.server.routing.HeapBytes;
import java.util.Map;

/**
 * About how much of the heap calls and services take, on a 64-bit HotSpot JVM with compressed
 * references: what clients make the bus keep is counted with it before it is made. A test compares
 * it with what the heap really grows by. Stateless; any thread.
 */
public final class CallHeap {
  /** A call without its request, and its places in the maps of its caller and its member. */
  static final int CALL = 360;

  /** A service, in the directory. */
  private static final int SERVICE = 330;

  /** A service as one loop knows it, without calls. */
  private static final int KNOWN = 370;

  /** Bytes that the first call that waits for a service adds to it. */
  private static final int QUEUE = 230;

  /** A member with its place in its service, its connection, its session and who is present. */
  private static final int MEMBER = 900;

  /** An empty queue of calls for one member only, on one loop. */
  private static final int MEMBER_QUEUE = 64;

  /** A request to all members, without what each member takes. */
  private static final int GATHERING = 300;

  /** A member whose connection is lost, with the timer that waits for it. */
  private static final int AWAY = 600;

  private static final int METADATA_ENTRY = 16;

  private CallHeap() {}

  /** A request to so many members, without its body and the calls of single members. */
  static long ofGathering(int members) {
    return GATHERING + (long) Long.BYTES * members;
  }

  /** A service that nobody serves, and that a call waits for. */
  static int ofWaitingService(int nameBytes) {
    // In the directory as text, on the loop as bytes.
    return SERVICE + KNOWN + QUEUE + 2 * nameBytes;
  }

  /**
   * Estimates what a registration makes the bus keep, if no other connection serves the service.
   *
   * @return bytes
   */
  public static long ofRegistration(
      String service, String version, Map<String, String> metadata, int loops) {
    long name = HeapBytes.ofString(service);
    long bytes = SERVICE + MEMBER + name + HeapBytes.ofString(version);
    bytes += loops * (KNOWN + MEMBER_QUEUE + name);
    return bytes + ofMetadata(metadata);
  }

  /** A member that may come back. */
  static long ofAway(String service, Presence.Member member) {
    return AWAY
        + HeapBytes.ofString(service)
        + HeapBytes.ofString(member.client())
        + HeapBytes.ofString(member.version())
        + ofMetadata(member.metadata());
  }

  private static long ofMetadata(Map<String, String> metadata) {
    long bytes = 0;
    for (Map.Entry<String, String> entry : metadata.entrySet()) {
      bytes += HeapBytes.ofString(entry.getKey()) + HeapBytes.ofString(entry.getValue());
      bytes += METADATA_ENTRY;
    }
    return bytes;
  }
}
