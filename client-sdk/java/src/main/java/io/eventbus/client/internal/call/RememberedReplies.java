package io.eventbus.client.internal.call;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The last replies of a service, bounded in number and in bytes. For one thread at a time. */
final class RememberedReplies {
  /** What one takes in memory beside its bytes. */
  private static final int OVERHEAD = 256;

  private final int most;
  private final long mostBytes;
  private final Map<ReceivedInvocation.Key, Remembered> replies = new LinkedHashMap<>();
  private long bytes;

  /** An answer without its connection. */
  record Remembered(int handledMicros, Body body) {
    int bytes() {
      return body.bytes() + OVERHEAD;
    }
  }

  RememberedReplies(int most, long mostBytes) {
    this.most = most;
    this.mostBytes = mostBytes;
  }

  @Nullable Remembered get(ReceivedInvocation.Key key) {
    return replies.get(key);
  }

  void add(ReceivedInvocation.Key key, int handledMicros, Body body) {
    if (most == 0) {
      return;
    }
    Remembered added = new Remembered(handledMicros, body);
    Remembered before = replies.put(key, added);
    bytes += added.bytes() - (before == null ? 0 : before.bytes());
    Iterator<Remembered> oldest = replies.values().iterator();
    while (replies.size() > most || bytes > mostBytes) {
      bytes -= oldest.next().bytes();
      oldest.remove();
    }
  }
}
