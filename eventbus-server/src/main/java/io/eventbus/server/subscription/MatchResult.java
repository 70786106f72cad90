package io.eventbus.server.subscription;

import io.eventbus.protocol.Topic;
import io.eventbus.server.memory.NumberTable;
import java.util.Arrays;

/**
 * Input and result of a look-up in the index: the tokens of the topic, cut once, and the sets of
 * subscriptions whose filter matches it. It is reused, so that a look-up that finds what was known
 * before allocates next to nothing. Confined to one thread.
 */
public final class MatchResult {
  private static final SubscriptionSet[] NONE = {};

  private String[] tokens = new String[4];
  private int tokenCount;
  private boolean system;
  private SubscriptionSet[] sets = NONE;
  private int size;
  private int work;

  /** Begins a look-up of a legal topic. */
  void begin(String topic) {
    clear();
    system = topic.charAt(0) == Topic.SYSTEM;
    int start = 0;
    for (int dot = topic.indexOf('.'); dot >= 0; dot = topic.indexOf('.', start)) {
      addToken(topic.substring(start, dot));
      start = dot + 1;
    }
    addToken(topic.substring(start));
  }

  private void addToken(String token) {
    if (tokenCount == tokens.length) {
      tokens = Arrays.copyOf(tokens, 2 * tokenCount);
    }
    tokens[tokenCount++] = token;
  }

  int tokenCount() {
    return tokenCount;
  }

  String token(int i) {
    return tokens[i];
  }

  /** Returns whether only filters that name the first token match. */
  boolean isSystem() {
    return system;
  }

  void add(SubscriptionSet set) {
    if (size == sets.length) {
      sets = Arrays.copyOf(sets, Math.max(4, 2 * size));
    }
    sets[size++] = set;
  }

  /** Counts a visited node of the tree of filters. */
  void visit() {
    work++;
  }

  /** Counts a route that was built of the result. */
  void made() {
    work += count();
  }

  /** Returns the cost of look-ups since the last call, in nodes and subscribers. */
  public int takeWork() {
    int taken = work;
    work = 0;
    return taken;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Returns whether these are the sets, unchanged, that another look-up found. */
  boolean are(long[] stamps) {
    if (stamps.length != size) {
      return false;
    }
    for (int i = 0; i < size; i++) {
      if (sets[i].stamp() != stamps[i]) {
        return false;
      }
    }
    return true;
  }

  /** Returns the stamps of the sets: equal stamps mean equal subscriptions. */
  long[] stamps() {
    long[] stamps = new long[size];
    for (int i = 0; i < size; i++) {
      stamps[i] = sets[i].stamp();
    }
    return stamps;
  }

  /** Returns the number of subscriptions found. */
  int count() {
    int count = 0;
    for (int i = 0; i < size; i++) {
      count += sets[i].size();
    }
    return count;
  }

  RoutedSubscription[] subscriptions() {
    RoutedSubscription[] all = new RoutedSubscription[count()];
    int at = 0;
    for (int i = 0; i < size; i++) {
      at = sets[i].copyTo(all, at);
    }
    return all;
  }

  /** Counts the clients without a group, each once, and the groups of clients. */
  int receivers() {
    RoutedSubscription[] all = subscriptions();
    SubscriberSet clients = new SubscriberSet(all.length);
    NumberTable groups = new NumberTable(all.length);
    for (RoutedSubscription s : all) {
      if (s.subscriber() instanceof RemoteBus) {
        continue;
      }
      if (s.group() == null) {
        clients.add(s.subscriber());
      } else {
        groups.add(s.groupNumber());
      }
    }
    return clients.size() + groups.size();
  }

  /** Ends a look-up: nothing of it is kept alive. */
  void clear() {
    Arrays.fill(tokens, 0, tokenCount, "");
    tokenCount = 0;
    // Whatever one topic has found, the next one mostly finds little.
    sets = NONE;
    size = 0;
  }
}
