package io.eventbus.server.call;

import io.eventbus.server.memory.HeapBytes;
import java.util.Map;

/**
 * Estimates of the heap that calls and services take on a 64-bit HotSpot JVM with compressed
 * references: clients are charged before the bus allocates. A test compares them with the real
 * growth. Stateless; any thread.
 */
public final class CallHeap {
  /** Call without its request, with its places in the maps of caller and member. */
  static final int CALL = 360;

  /** Service in the directory. */
  private static final int SERVICE = 330;

  /** Service as one loop knows it, without calls. */
  private static final int KNOWN = 370;

  /** Bytes that the first call that waits for a service adds to it. */
  private static final int QUEUE = 230;

  /** Member with its places in service, connection, session and presence. */
  private static final int MEMBER = 900;

  /** Empty queue of calls for one member only, on one loop. */
  private static final int MEMBER_QUEUE = 64;

  /** Request to all members, without the part of each member. */
  private static final int GATHERING = 300;

  /** Member whose connection is lost, with its timer. */
  private static final int AWAY = 600;

  private static final int METADATA_ENTRY = 16;

  private CallHeap() {}

  /** Estimates a request to this many members, without its body and its single calls. */
  static long ofGathering(int members) {
    return GATHERING + (long) Long.BYTES * members;
  }

  /** Estimates a service without members that a call waits for. */
  static int ofWaitingService(int nameBytes) {
    // In the directory as text, on the loop as bytes.
    return SERVICE + KNOWN + QUEUE + 2 * nameBytes;
  }

  /** Estimates the bytes of a registration, if no other connection serves the service. */
  public static long ofRegistration(
      String service, String version, Map<String, String> metadata, int loops) {
    long name = HeapBytes.ofString(service);
    long bytes = SERVICE + MEMBER + name + HeapBytes.ofString(version);
    bytes += loops * (KNOWN + MEMBER_QUEUE + name);
    return bytes + ofMetadata(metadata);
  }

  /** Estimates a member that may come back. */
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
