package io.eventbus.server.session;

import io.eventbus.server.memory.HeapBytes;
import java.time.Instant;
import java.util.Map;

/** Description that a client gives of itself, and its producer number. Immutable. */
public record ClientInfo(
    long number,
    String run,
    String client,
    String agent,
    Map<String, String> attributes,
    long producer,
    String resume,
    Instant since) {
  /** Bytes of the slots of a name and a value in an immutable map, which is at most half full. */
  private static final int ATTRIBUTE_BYTES = 16;

  /** Copies the attributes, so that the record is immutable. */
  public ClientInfo {
    attributes = Map.copyOf(attributes);
  }

  /** A client that has not said Hello. */
  static final ClientInfo UNKNOWN = new ClientInfo(0, "", "", "", Map.of(), 0, "", Instant.EPOCH);

  /** Returns the session's id. */
  public String id() {
    return run + number;
  }

  /** Returns the estimated heap bytes of the attributes. */
  long attributeBytes() {
    long bytes = 0;
    for (Map.Entry<String, String> attribute : attributes.entrySet()) {
      bytes +=
          ATTRIBUTE_BYTES
              + HeapBytes.ofString(attribute.getKey())
              + HeapBytes.ofString(attribute.getValue());
    }
    return bytes;
  }

  @Override
  public String toString() {
    return id() + " (" + client + ")";
  }
}
