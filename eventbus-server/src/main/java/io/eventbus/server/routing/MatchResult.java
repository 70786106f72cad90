package io.eventbus.server.routing;

import io.eventbus.protocol.Topic;
import java.util.Arrays;

/**
 * What a look-up in the index goes by and finds: the tokens of the topic, cut once, and the sets of
 * subscriptions whose filter selects it. It is used again for the next look-up, so that one that
 * finds what was known before makes next to nothing. Confined to one thread.
 */
final class MatchResult {
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

  /** Whether only who names the first token gets the topic. */
  boolean isSystem() {
    return system;
  }

  void add(SubscriptionSet set) {
    if (size == sets.length) {
      sets = Arrays.copyOf(sets, Math.max(4, 2 * size));
    }
    sets[size++] = set;
  }

  /** A node of the tree of filters was looked at. */
  void visit() {
    work++;
  }

  /** A route was made of what was found. */
  void made() {
    work += count();
  }

  /** What look-ups have cost since the last call, in nodes and subscribers. */
  int takeWork() {
    int taken = work;
    work = 0;
    return taken;
  }

  boolean isEmpty() {
    return size == 0;
  }

  /** Whether these are the sets, unchanged, that another look-up found. */
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

  /** The stamps of the sets: those with the same are the same subscriptions. */
  long[] stamps() {
    long[] stamps = new long[size];
    for (int i = 0; i < size; i++) {
      stamps[i] = sets[i].stamp();
    }
    return stamps;
  }

  /** How many subscriptions were found. */
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
