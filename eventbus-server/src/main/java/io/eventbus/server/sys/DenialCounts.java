package io.eventbus.server.sys;

import io.eventbus.server.advisory.Advisory.PermissionDenied;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Counts of repeated denials: the first of a client in a minute is reported at once, and the others
 * as one with a count when the minute is over. Any thread.
 */
final class DenialCounts {
  /** Maximum of different denials in a minute; beyond, the oldest is reported early. */
  static final int MAX_DENIALS = 4_096;

  private static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Map<Key, Window> windows = new LinkedHashMap<>();

  /** Key that is comparable, because clients choose what they are denied. */
  private record Key(String account, String subject, String address, String denied)
      implements Comparable<Key> {
    private static final Comparator<Key> ORDER =
        Comparator.comparing(Key::denied)
            .thenComparing(Key::subject)
            .thenComparing(Key::address)
            .thenComparing(Key::account);

    @Override
    public int compareTo(Key other) {
      return ORDER.compare(this, other);
    }

    static Key of(PermissionDenied denied) {
      String address = denied.remoteAddress();
      int port = address.lastIndexOf(':');
      // Clients without a name are told apart by where they are.
      return new Key(
          denied.account(),
          denied.subject(),
          denied.subject().isEmpty() && port > 0 ? address.substring(0, port) : "",
          denied.action() + " " + denied.name());
    }
  }

  private static final class Window {
    final long beganNanos;
    final PermissionDenied first;
    long more;

    Window(long beganNanos, PermissionDenied first) {
      this.beganNanos = beganNanos;
      this.first = first;
    }
  }

  /** Returns what is to be told now, in order. */
  synchronized List<PermissionDenied> add(PermissionDenied denied, long nowNanos) {
    Window window = windows.get(Key.of(denied));
    if (window != null && nowNanos - window.beganNanos < WINDOW_NANOS) {
      window.more++;
      return List.of();
    }
    List<PermissionDenied> due = new ArrayList<>(due(nowNanos));
    if (windows.size() >= MAX_DENIALS) {
      Iterator<Window> oldest = windows.values().iterator();
      rest(oldest.next()).ifPresent(due::add);
      oldest.remove();
    }
    windows.put(Key.of(denied), new Window(nowNanos, denied));
    due.add(denied);
    return due;
  }

  /** Returns the counts of the minutes that are over. */
  synchronized List<PermissionDenied> due(long nowNanos) {
    List<PermissionDenied> due = new ArrayList<>();
    // They are in the order in which they began.
    Iterator<Window> oldest = windows.values().iterator();
    while (oldest.hasNext()) {
      Window window = oldest.next();
      if (nowNanos - window.beganNanos < WINDOW_NANOS) {
        break;
      }
      rest(window).ifPresent(due::add);
      oldest.remove();
    }
    return due;
  }

  private static Optional<PermissionDenied> rest(Window window) {
    return window.more == 0 ? Optional.empty() : Optional.of(window.first.times(window.more));
  }
}
