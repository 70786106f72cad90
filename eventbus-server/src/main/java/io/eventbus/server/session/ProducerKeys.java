package io.eventbus.server.session;

import io.eventbus.protocol.ProducerName;
import io.eventbus.server.memory.BusMemory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Keys by which journals know repetitions of one client: that of its session, and those of the
 * names that it has chosen. Confined to the session's loop.
 */
final class ProducerKeys {
  /** Maximum number of names, each of which a journal remembers for days. */
  static final int MAX_NAMES = 256;

  /** Heap of a name and its key. */
  static final int NAME_BYTES = 256;

  // First bytes of the keys: no name has the key of a session.
  private static final byte SESSION = 0;
  private static final byte NAME = 1;

  private final BusMemory memory;
  private final byte[] ofSession;
  private final Map<String, byte[]> ofNames = new HashMap<>();

  ProducerKeys(BusMemory memory, long producer) {
    this.memory = memory;
    ofSession = ByteBuffer.allocate(1 + Long.BYTES).put(SESSION).putLong(producer).array();
  }

  byte[] ofSession() {
    return ofSession;
  }

  /** Returns the key of a legal name; null if the client has used too many others. */
  byte @Nullable [] ofName(String name) {
    byte[] known = ofNames.get(name);
    if (known != null || ofNames.size() == MAX_NAMES) {
      return known;
    }
    byte[] utf8 = name.getBytes(StandardCharsets.UTF_8);
    byte[] key = ByteBuffer.allocate(1 + utf8.length).put(NAME).put(utf8).array();
    ofNames.put(name, key);
    memory.reserve(NAME_BYTES);
    return key;
  }

  /** Returns the error in a name; null for a legal one. */
  @Nullable String problem(String name) {
    return ofNames.containsKey(name) ? null : ProducerName.problem(name);
  }

  /** Frees what is remembered. */
  void close() {
    memory.release((long) NAME_BYTES * ofNames.size());
    ofNames.clear();
  }
}
