package io.eventbus.client.internal.call;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Last replies of a service, bounded in number and in bytes. For one thread at a time. */
final class RememberedReplies {
  /** Bytes that a reply takes in memory beside its event. */
  private static final int OVERHEAD = 256;

  private final int max;
  private final long maxBytes;
  private final Map<ReceivedInvocation.Key, Remembered> replies = new LinkedHashMap<>();
  private long bytes;

  /** Answer without its connection. */
  record Remembered(int handledMicros, Body body) {
    int bytes() {
      return body.bytes() + OVERHEAD;
    }
  }

  RememberedReplies(int max, long maxBytes) {
    this.max = max;
    this.maxBytes = maxBytes;
  }

  @Nullable Remembered get(ReceivedInvocation.Key key) {
    return replies.get(key);
  }

  void add(ReceivedInvocation.Key key, int handledMicros, Body body) {
    if (max == 0) {
      return;
    }
    Remembered added = new Remembered(handledMicros, body);
    Remembered before = replies.put(key, added);
    bytes += added.bytes() - (before == null ? 0 : before.bytes());
    Iterator<Remembered> oldest = replies.values().iterator();
    while (replies.size() > max || bytes > maxBytes) {
      bytes -= oldest.next().bytes();
      oldest.remove();
    }
  }
}
